//! The stream of control.

use async_trait::async_trait;
use compass_agent::ports::{Control, ControlOp, ControlSource, ControlStream, StreamBroken};
use compass_proto::v1::{self, agent_control::Control as WireControl};
use tonic::{Status, Streaming};

use super::AgentSocket;
use crate::mapping;

#[async_trait]
impl ControlSource for AgentSocket {
    async fn open(&self) -> Result<Box<dyn ControlStream>, StreamBroken> {
        let opened = self.client().control(v1::ControlSubscribeRequest {}).await;
        Ok(Box::new(Stream(opened.map_err(|status| broken(&status))?.into_inner())))
    }
}

struct Stream(Streaming<v1::AgentControl>);

#[async_trait]
impl ControlStream for Stream {
    async fn next(&mut self) -> Result<Option<ControlOp>, StreamBroken> {
        let op = self.0.message().await.map_err(|status| broken(&status))?;
        Ok(op.map(|op| ControlOp { seq: op.control_seq, control: control(op.control) }))
    }
}

fn control(control: Option<WireControl>) -> Control {
    match control {
        Some(WireControl::Prompt(prompt)) => Control::Prompt(prompt.input),
        Some(WireControl::Deliver(op)) if op.message.is_some() => {
            Control::Message(Box::new(mapping::deliver(op)))
        }
        Some(WireControl::Steer(op)) if op.message.is_some() => {
            Control::Message(Box::new(mapping::steer(op)))
        }
        Some(WireControl::Deliver(_) | WireControl::Steer(_)) => Control::Empty,
        Some(WireControl::ReplayComplete(_)) => Control::ReplayComplete,
        None => Control::Unknown,
    }
}

fn broken(status: &Status) -> StreamBroken {
    StreamBroken(format!("{:?}: {}", status.code(), status.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_without_a_message_is_empty_and_one_without_a_variant_unknown() {
        assert_eq!(control(Some(WireControl::Deliver(v1::DeliverControl::default()))), Control::Empty);
        assert_eq!(control(Some(WireControl::Steer(v1::SteerControl::default()))), Control::Empty);
        assert_eq!(control(None), Control::Unknown);
    }

    #[test]
    fn a_steer_says_that_it_interrupts() {
        for steer in [false, true] {
            let message = Some(v1::Message { id: "m".into(), ..v1::Message::default() });
            let wire = if steer {
                WireControl::Steer(v1::SteerControl { message, ..v1::SteerControl::default() })
            } else {
                WireControl::Deliver(v1::DeliverControl { message, ..v1::DeliverControl::default() })
            };
            let Control::Message(delivery) = control(Some(wire)) else { panic!("a message") };
            assert_eq!((delivery.message.id.as_str(), delivery.steer), ("m", steer));
        }
    }
}
