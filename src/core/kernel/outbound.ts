import type { MostUsage } from '../../formats/counts.ts';
import type { Loss } from '../../formats/conversation.ts';
import type { Signals, UpstreamFailure } from '../../formats/events.ts';
import type { Format } from '../../formats/format.ts';
import type { DefaultMaxTokens } from '../../formats/request-target.ts';
import type { Outbound as PublicOutbound, ResolvedTarget as PublicResolvedTarget } from '../../plugin/exchange.ts';
import type { FormBody } from './forms/form-body.ts';
import type { TimeoutSettings } from './settings.ts';

export interface ResolvedTarget extends PublicResolvedTarget {
  readonly semconvName: string;
  /** The location in a path of Google Cloud, by which prices differ: `europe-west1`, `global`. */
  readonly region?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Why this format and not the usual one of the catalog entry. */
  readonly formatReason?: string | undefined;
  readonly host: 'vertex' | 'direct';
  /** False: the upstream rejects requests for usage on a stream. */
  readonly streamUsage?: boolean | undefined;
  /** True: the body names the model, although the format omits it at this host. */
  readonly modelInBody?: boolean | undefined;
  /** The fields beyond the API of the format's vendor that the target takes. Default: all. */
  readonly extensions?: ReadonlySet<string> | undefined;
  /** True: the chat API of the target takes free-text tools. Others get them as functions. */
  readonly customTools?: boolean | undefined;
  /** True: requests may name responses that the gateway does not keep (the caller's own account, or permitted). */
  readonly takesUnknownIds?: boolean | undefined;
  /** Names the account of the target in signatures that only this account accepts. It has no secret. */
  readonly signatureScope?: string | undefined;
  /** The most tokens that one reply can have used. Undefined: the model is not known. */
  readonly mostUsage?: MostUsage | undefined;
  /** True: Claude on Vertex AI takes schemas of answers and strict tools. */
  readonly structuredOutputs?: boolean | undefined;
  /** True: the upstream counts no tokens, so the gateway estimates them and sends nothing. */
  readonly estimatesTokens?: boolean | undefined;
  /** True: the model may begin its answers with its chain of thought in tags. */
  readonly inlineThinking?: boolean | undefined;
  /** The request itself names the host or project: its outcome does not count for the target's health. */
  readonly adHoc?: boolean | undefined;
  /** The host, and its port if it is not the scheme's, that the caller named (`custom_hosts`). Only prices of this host apply. */
  readonly customHost?: string | undefined;
  /** The upstream gets the caller's own token instead of a credential of the catalog entry. */
  readonly usesCallersToken?: boolean | undefined;
  /** Timeouts of the catalog entry. */
  readonly timeouts: TimeoutSettings;
  /** Setting of the catalog entry for requests without an answer limit, at an API that demands one. */
  readonly defaultMaxTokens?: DefaultMaxTokens | undefined;
}

export interface Outbound extends PublicOutbound {
  /** The multipart form that is sent in place of `body`, which then has its text fields as JSON. */
  readonly form?: FormBody;
  /** Creates the reader for the reply of one try. */
  readonly openReader: (reply: { status: number; headers: Record<string, string> }) => ReplyReaderLike;
  readonly decodeError: Format['decodeError'];
  /** The request without signatures of thoughts, for an upstream that refused one. Else undefined. */
  readonly withoutSignatures?: (
    failure: UpstreamFailure,
    body: Buffer | string,
  ) => { readonly body: Buffer; readonly losses: readonly Loss[] } | undefined;
  /** Set when the gateway itself knows the answer: `send` sends nothing and replies with it. */
  readonly answer?: Buffer;
  /** Several calls, joined into one reply, as the upstream accepts fewer items per call. `body` is the first. */
  readonly batch?: Batch;
}

export interface Batch {
  readonly bodies: readonly (Buffer | string)[];
  /** Maximum concurrent calls. */
  readonly parallel: number;
  /** Parses the reply of one call. Throws ReplyFault. */
  readonly read: (bytes: Buffer, call: number) => unknown;
  /** Parsed replies by call index: a retry sends only the missing calls. */
  readonly replies: Map<number, unknown>;
  /** Total bytes of those replies as received. */
  bytesRead: number;
  /** Joins all replies into one, which is complete: `signals` is final and reports a failure. */
  readonly join: () => { readonly body: Buffer | undefined; readonly signals: Signals };
}

export interface ReplyReaderLike {
  readonly signals: Signals;
  push(bytes: Buffer): Buffer | undefined;
  end(): Buffer | undefined;
}
