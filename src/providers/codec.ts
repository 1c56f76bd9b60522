import type { JsonObject, Loss } from '../formats/conversation.ts';
import type { UpstreamFailure, Usage } from '../formats/events.ts';
import type { BodyEdit, BodyView, PassThrough } from '../formats/format.ts';

/**
 * How a task that is no generation (embeddings, images) is asked for at one place. A pair of pure functions in the provider's
 * folder: no I/O, no clock, no configuration. What the place refuses is read by the location's format, as with every task.
 */
export type Codec = PassThroughCodec | TranslatingCodec;

/** The place speaks the client's API: the caller's bytes go out, with what the place needs spliced in. */
export interface PassThroughCodec {
  readonly mode: 'pass-through';
  /** @param model name the upstream knows */
  edits(body: BodyView, model: string): readonly BodyEdit[];
  /** Watches the reply, whose bytes leave as they came. */
  openReader(model: string, stream: boolean): PassThrough;
}

/** The place speaks another API. */
export interface TranslatingCodec {
  readonly mode: 'translate';
  /** @param body has passed the operation's schema; never changed. Throws RequestFault for what must be refused. */
  encode(body: JsonObject, context: CodecContext): EncodedTask;
}

export interface CodecContext {
  /** Name the upstream knows. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** Only fields of OpenAI's API are wanted in the reply. */
  readonly strict: boolean;
  /** Cost labels derived from metadata, as in `RequestTarget`. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface EncodedTask {
  /** The request: one upstream call for each, all to the location's path. At least one. */
  readonly calls: readonly JsonObject[];
  /** Lower-case names; what the place wants said in headers and not in the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** So many calls may be in the air at once. */
  readonly parallel: number;
  readonly losses: readonly Loss[];
  /**
   * Where there are several calls: whether a reply can be read, asked when it comes, so that a retry asks that call alone again and
   * not all of them. Throws ReplyFault, as `decode` would.
   */
  readonly check?: (reply: unknown, call: number) => void;
  /**
   * @param replies 2xx bodies, parsed, in the order of `calls`
   * Throws ReplyFault for what cannot be read.
   */
  decode(replies: readonly unknown[]): TaskReply;
  /** The client asked for a stream and the place answers whole: the body as server-sent events. */
  readonly stream?: (body: JsonObject) => string;
}

/** The client's body; or what the replies say went wrong, although their status was 200 (all images filtered). */
export type TaskReply =
  | { readonly ok: true; readonly body: JsonObject; readonly usage?: Usage; readonly model?: string }
  | { readonly ok: false; readonly failure: UpstreamFailure };
