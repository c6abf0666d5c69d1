/** The one place where codes of the wire become kinds of failure. */
import { Code, ConnectError } from "@connectrpc/connect";
import { Failure } from "../model/client";
import type { FailureKind } from "../model/client";
import { errorText } from "../model/text";
import { wireText } from "../strings/wire";

const kindOf = (code: Code): FailureKind => {
  switch (code) {
    case Code.Unauthenticated:
      return "signed_out";
    case Code.PermissionDenied:
      return "not_allowed";
    case Code.NotFound:
      return "not_found";
    case Code.InvalidArgument:
    case Code.OutOfRange:
      return "invalid";
    case Code.AlreadyExists:
      return "already";
    case Code.FailedPrecondition:
      return "precondition";
    case Code.Unavailable:
    case Code.DeadlineExceeded:
    case Code.ResourceExhausted:
      return "unavailable";
    case Code.Unknown:
      return "unknown";
    case Code.Aborted:
    case Code.Canceled:
      return "aborted";
    case Code.Internal:
    case Code.DataLoss:
    case Code.Unimplemented:
      return "internal";
  }
};

/** What kind of call failed. Of a write without a reply that can be read nobody knows whether it was kept. */
export type CallShape = "read" | "write" | "stream";

/** True for an error that the server itself sent: its status comes in headers or trailers, which a broken connection lacks. */
const isAnswered = (error: ConnectError): boolean => error.metadata.has("grpc-status") || error.metadata.has("content-type");

const withoutReply = (shape: CallShape): Failure =>
  shape === "write" ? new Failure("unknown", wireText.outcomeUnknown) : new Failure("unavailable", wireText.unreachable);

/** Everything a call can reject with, as a `Failure` with the server's own words where it spoke. */
export const failureOf = (error: unknown, shape: CallShape): Failure => {
  if (error instanceof Failure) return error;
  // It answered, but not in a way that says what it did.
  if (!(error instanceof ConnectError)) return new Failure(shape === "write" ? "unknown" : "internal", wireText.notUnderstood(errorText(error)));
  if (error.code === Code.Canceled) return new Failure("aborted", wireText.aborted);
  // A deadline of our own, a refused or a broken connection, a proxy's page instead of a reply.
  if (!isAnswered(error) || error.code === Code.DeadlineExceeded) return withoutReply(shape);
  return new Failure(kindOf(error.code), error.rawMessage);
};
