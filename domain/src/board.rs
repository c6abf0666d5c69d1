//! The pinned board of a channel: at most five pointers to messages, in order.

use crate::{
    channel::Pin,
    id::{AccountId, MessageId, UnixMillis},
    limits,
};

/// Why a board does not change as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// The message is on the board.
    #[error("message {0} is already pinned")]
    AlreadyPinned(MessageId),
    /// The board is full.
    #[error("the board has {actual} pins, the limit is {limit}: unpin or replace one")]
    Full {
        /// Pins at the most.
        limit: usize,
        /// Pins now.
        actual: usize,
    },
    /// The message that was to be replaced is not on the board any more.
    #[error("message {0} is not pinned any more: read the board again")]
    Gone(MessageId),
}

/// The board after `message` was pinned last.
///
/// # Errors
///
/// [`BoardError`] if it is pinned already or the board is full.
pub fn pin(board: &[Pin], message: MessageId, at: UnixMillis, by: AccountId) -> Result<Vec<Pin>, BoardError> {
    refuse_pinned(board, message)?;
    if board.len() >= limits::PINS {
        return Err(BoardError::Full { limit: limits::PINS, actual: board.len() });
    }
    let mut after = board.to_vec();
    after.push(Pin { message, position: 0, pinned_at: at, pinned_by: by });
    Ok(numbered(after))
}

/// The board after `message` took the place of `replaced`.
///
/// # Errors
///
/// [`BoardError`] if `message` is pinned already or `replaced` is not pinned any more.
pub fn replace(
    board: &[Pin],
    replaced: MessageId,
    message: MessageId,
    at: UnixMillis,
    by: AccountId,
) -> Result<Vec<Pin>, BoardError> {
    if board.iter().all(|pin| pin.message != replaced) {
        return Err(BoardError::Gone(replaced));
    }
    refuse_pinned(board, message)?;
    let swapped = |pin: &Pin| {
        if pin.message == replaced { Pin { message, pinned_at: at, pinned_by: by, ..*pin } } else { *pin }
    };
    Ok(numbered(board.iter().map(swapped).collect()))
}

/// The board without `message`; the same board if it was not pinned.
pub fn unpin(board: &[Pin], message: MessageId) -> Vec<Pin> {
    numbered(board.iter().filter(|pin| pin.message != message).copied().collect())
}

fn refuse_pinned(board: &[Pin], message: MessageId) -> Result<(), BoardError> {
    if board.iter().any(|pin| pin.message == message) {
        return Err(BoardError::AlreadyPinned(message));
    }
    Ok(())
}

fn numbered(mut board: Vec<Pin>) -> Vec<Pin> {
    for (pin, position) in board.iter_mut().zip(0u32..) {
        pin.position = position;
    }
    board
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: AccountId = AccountId::from_bytes([7; 16]);

    fn message(byte: u8) -> MessageId {
        MessageId::from_bytes([byte; 16])
    }

    fn board(messages: &[u8]) -> Vec<Pin> {
        let mut board = Vec::new();
        for &byte in messages {
            board = pin(&board, message(byte), UnixMillis(byte.into()), BY).unwrap();
        }
        board
    }

    fn places(board: &[Pin]) -> Vec<(MessageId, u32)> {
        board.iter().map(|pin| (pin.message, pin.position)).collect()
    }

    #[test]
    fn a_message_is_pinned_last_and_once() {
        let two = board(&[1, 2]);
        assert_eq!(places(&two), [(message(1), 0), (message(2), 1)]);
        let again = pin(&two, message(1), UnixMillis(9), BY);
        assert_eq!(again, Err(BoardError::AlreadyPinned(message(1))));
    }

    #[test]
    fn a_sixth_pin_is_refused_with_the_limit() {
        let full = board(&[1, 2, 3, 4, 5]);
        let error = pin(&full, message(6), UnixMillis(9), BY).unwrap_err();
        assert_eq!(error, BoardError::Full { limit: 5, actual: 5 });
        assert_eq!(error.to_string(), "the board has 5 pins, the limit is 5: unpin or replace one");
    }

    #[test]
    fn a_replacement_keeps_the_place_also_on_a_full_board() {
        let full = board(&[1, 2, 3, 4, 5]);
        let after = replace(&full, message(2), message(6), UnixMillis(9), BY).unwrap();
        assert_eq!(
            after[1],
            Pin { message: message(6), position: 1, pinned_at: UnixMillis(9), pinned_by: BY }
        );
        assert_eq!((after[0], after[2]), (full[0], full[2]));
        let stale = replace(&after, message(2), message(7), UnixMillis(9), BY);
        assert_eq!(stale, Err(BoardError::Gone(message(2))));
        let twice = replace(&after, message(1), message(6), UnixMillis(9), BY);
        assert_eq!(twice, Err(BoardError::AlreadyPinned(message(6))));
    }

    #[test]
    fn the_pins_behind_one_that_is_taken_off_move_up() {
        let three = board(&[1, 2, 3]);
        assert_eq!(places(&unpin(&three, message(1))), [(message(2), 0), (message(3), 1)]);
        assert_eq!(unpin(&three, message(9)), three);
    }
}
