import type { JsonObject, Loss } from '../../formats/conversation.ts';
import type { UpstreamFailure, Usage } from '../../formats/events.ts';
import type { BodyEdit, BodyView, Cleaning } from '../../formats/body-view.ts';
import type { NativeForm } from '../../formats/task-forms.ts';
import type { PassThrough } from '../../formats/format.ts';

/** A task that is not a conversation, in one API. Pure functions. The location's format reads error replies. */
export type Codec = PassThroughCodec | TranslatingCodec;

/** The upstream has the client's API: the caller's bytes are sent, with edits spliced in. */
export interface PassThroughCodec {
  readonly mode: 'pass-through';
  /** @param model the upstream's model name */
  edits(body: BodyView, model: string): readonly BodyEdit[];
  /** Takes out what the upstream does not have. @param extensions those that it takes; undefined: all */
  clean?(body: BodyView, extensions: ReadonlySet<string> | undefined): Cleaning | undefined;
  /** Whether the body requests a stream of events. Default: never, whatever the body or the config contains. */
  streams?(body: BodyView): boolean;
  /** The edit that requests usage of a stream, for an API that has such a field. Undefined where the caller requests it. */
  usageRequest?(body: BodyView): BodyEdit | undefined;
  /** Observes the reply, whose bytes pass through unchanged. @param form what the request makes of the reply */
  openReader(model: string, stream: boolean, contentType?: string, form?: ReplyForm): PassThrough;
}

interface ReplyForm {
  /** The gateway requested the usage, and the client did not: it is taken out. */
  readonly hidesUsage: boolean;
  /** `encoding_format` of the request's body. */
  readonly encoding: unknown;
}

/** The upstream has another API. */
export interface TranslatingCodec {
  readonly mode: 'translate';
  /** @param body valid for the operation's schema; never changed. Throws RequestFault for a body that must be refused. */
  encode(body: JsonObject, context: CodecContext): EncodedTask;
  /** For clients of the upstream's own API. */
  readonly native?: NativeCodec;
}

/** The API of the upstream on both sides, where it is not OpenAI's. */
export interface NativeCodec extends PassThroughCodec {
  readonly form: NativeForm;
}

export interface CodecContext {
  /** The upstream's model name. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** The reply may have fields of OpenAI's API only. */
  readonly strict: boolean;
  /** Cost labels derived from metadata, as in `RequestTarget`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Names of `labels` that the labels of the body do not replace. */
  readonly boundLabels?: ReadonlySet<string> | undefined;
}

export interface EncodedTask {
  /** The bodies of the upstream calls, all to the location's path. At least one. */
  readonly calls: readonly JsonObject[];
  /** Extra request headers, with lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly parallel: number;
  readonly losses: readonly Loss[];
  /** Checks each of several replies when it arrives, so that a retry repeats that call only. Throws ReplyFault. */
  readonly check?: (reply: unknown, call: number) => void;
  /** @param replies 2xx bodies, parsed, in the order of `calls`. Throws ReplyFault. */
  decode(replies: readonly unknown[]): TaskReply;
  /** Encodes the body as server-sent events, for a client that requested a stream where the upstream does not stream. */
  readonly stream?: (body: JsonObject) => string;
}

/** The client's body, or a failure that the replies report with status 200 (all images filtered). */
export type TaskReply =
  | { readonly ok: true; readonly body: JsonObject; readonly usage?: Usage; readonly model?: string }
  | { readonly ok: false; readonly failure: UpstreamFailure };
