//! SessionService: signing in, and the tokens that come of it.

use compass_comms::{
    Comms,
    tokens::{
        issue::{create_sign_in, issue_runner_token},
        list::list_tokens,
        revoke::revoke_by_id,
        sign_in::trade_sign_in,
    },
};
use compass_proto::v1::{self, session_service_server::SessionService};
use tonic::{Request, Response, Status};

use crate::{
    auth::{Auth, caller},
    error::DoorError,
    mapping,
    status::status,
};

/// The door of signing in.
pub(crate) struct SessionDoor {
    pub(crate) comms: Comms,
    pub(crate) auth: Auth,
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl SessionService for SessionDoor {
    async fn trade_sign_in(
        &self,
        request: Request<v1::TradeSignInRequest>,
    ) -> Answer<v1::TradeSignInResponse> {
        let secret = mapping::given("secret", &request.get_ref().secret).map_err(|error| status(&error))?;
        let signed_in = trade_sign_in(&self.comms, secret).await.map_err(|error| status(&error))?;
        let account_id = signed_in.account.to_string();
        Ok(Response::new(v1::TradeSignInResponse { token: signed_in.token, account_id }))
    }

    async fn list_tokens(&self, request: Request<v1::ListTokensRequest>) -> Answer<v1::ListTokensResponse> {
        let caller = caller(&request)?;
        let account = mapping::optional(&request.get_ref().account_id, || DoorError::NotFound("account"))
            .map_err(|error| status(&error))?;
        let tokens = list_tokens(&self.comms, &caller, account).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::ListTokensResponse { tokens: tokens.iter().map(mapping::token).collect() }))
    }

    async fn revoke_token_by_id(
        &self,
        request: Request<v1::RevokeTokenByIdRequest>,
    ) -> Answer<v1::RevokeTokenByIdResponse> {
        let caller = caller(&request)?;
        let token = mapping::required("token_id", "token", &request.get_ref().token_id)
            .map_err(|error| status(&error))?;
        let revoked = revoke_by_id(&self.comms, &caller, token).await;
        // After a failure too: its outcome may be unknown.
        self.auth.revoked();
        revoked.map_err(|error| status(&error))?;
        Ok(Response::new(v1::RevokeTokenByIdResponse {}))
    }

    async fn create_runner_token(
        &self,
        request: Request<v1::CreateRunnerTokenRequest>,
    ) -> Answer<v1::CreateRunnerTokenResponse> {
        let caller = caller(&request)?;
        let runner = mapping::given("runner_id", &request.get_ref().runner_id)
            .map_err(|error| status(&error))?
            .to_owned();
        let issued =
            issue_runner_token(&self.comms, &caller, runner).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::CreateRunnerTokenResponse { token: issued.token }))
    }

    async fn create_sign_in_link(
        &self,
        request: Request<v1::CreateSignInLinkRequest>,
    ) -> Answer<v1::CreateSignInLinkResponse> {
        let caller = caller(&request)?;
        let account = mapping::required("account_id", "account", &request.get_ref().account_id)
            .map_err(|error| status(&error))?;
        let secret = create_sign_in(&self.comms, &caller, account).await.map_err(|error| status(&error))?;
        Ok(Response::new(v1::CreateSignInLinkResponse { secret }))
    }
}
