//! Signing in, tokens, and who a token belongs to.

use compass_proto::v1 as pb;

use crate::{
    Client, ClientError,
    connect::within_deadline,
    model::{Me, SignedIn, TokenInfo},
};

impl Client {
    /// Trades a sign-in secret for a token; a secret works once.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; `unauthenticated` for a secret that is unknown, used or old.
    pub async fn trade_sign_in(&self, secret: &str) -> Result<SignedIn, ClientError> {
        let request = within_deadline(pb::TradeSignInRequest { secret: secret.into() });
        let reply = self.take(self.sessions().trade_sign_in(request).await?);
        Ok(SignedIn { token: reply.token, account_id: reply.account_id })
    }

    /// The account the token belongs to.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn who_am_i(&self) -> Result<Me, ClientError> {
        let reply = self.take(self.compass().who_am_i(within_deadline(pb::WhoAmIRequest {})).await?);
        Ok(Me { account_id: reply.account_id, handle: reply.handle })
    }

    /// Issues a token for an account; it is shown only here.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn issue_token(&self, account_id: &str) -> Result<String, ClientError> {
        let request = within_deadline(pb::IssueTokenRequest { account_id: account_id.into() });
        Ok(self.take(self.compass().issue_token(request).await?).token)
    }

    /// Issues a token for a runner; administrators only.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn issue_runner_token(&self, runner_id: &str) -> Result<String, ClientError> {
        let request = within_deadline(pb::CreateRunnerTokenRequest { runner_id: runner_id.into() });
        Ok(self.take(self.sessions().create_runner_token(request).await?).token)
    }

    /// Issues a sign-in secret for a person; administrators only.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn issue_sign_in(&self, account_id: &str) -> Result<String, ClientError> {
        let request = within_deadline(pb::CreateSignInLinkRequest { account_id: account_id.into() });
        Ok(self.take(self.sessions().create_sign_in_link(request).await?).secret)
    }

    /// Lists tokens of an account, or of the caller, without their secrets.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn tokens(&self, account_id: Option<&str>) -> Result<Vec<TokenInfo>, ClientError> {
        let request = pb::ListTokensRequest { account_id: account_id.unwrap_or_default().into() };
        let reply = self.take(self.sessions().list_tokens(within_deadline(request)).await?);
        Ok(reply.tokens.into_iter().map(TokenInfo::from).collect())
    }

    /// Makes a listed token useless.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn revoke_token_by_id(&self, token_id: &str) -> Result<(), ClientError> {
        let request = within_deadline(pb::RevokeTokenByIdRequest { token_id: token_id.into() });
        self.take(self.sessions().revoke_token_by_id(request).await?);
        Ok(())
    }

    /// Makes the token with this value useless.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn revoke_token(&self, value: &str) -> Result<(), ClientError> {
        let request = within_deadline(pb::RevokeTokenRequest { token: value.into() });
        self.take(self.compass().revoke_token(request).await?);
        Ok(())
    }
}
