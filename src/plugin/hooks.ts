import type { GenerationEvent, Usage } from '../formats/events.ts';
import type { TextChannel, TextKind, TextTransform } from '../formats/texts/channels.ts';
import type { RequestTextKind, TextRole } from '../formats/texts/request-texts.ts';
import type { ReplyEnd } from './reply.ts';

/**
 * How much of a request or a reply the hooks of a plugin read. none: nothing. observe: texts, which they cannot change.
 * texts: texts, which they may change; bytes without a changed text stay. events: the reply's events in the gateway's own
 * form; the reply is decoded and written anew.
 */
export type ReadLevel = 'none' | 'observe' | 'texts' | 'events';

/** The declaration of a plugin's hooks. The gateway decides at load what a reply passes through. */
export interface PluginReads {
  /** Default: none. */
  readonly request?: Exclude<ReadLevel, 'events'>;
  /** Default: none. */
  readonly reply?: ReadLevel;
  /** The kinds of text of a reply. Default: `text`. */
  readonly kinds?: readonly TextKind[];
  readonly hold?: TextHold;
}

/** How much of a streamed text may wait for a decision. */
export interface TextHold {
  /** `all`: nothing of a stream leaves before its end, so that it can be refused with a status. Default: window. */
  readonly mode?: 'window' | 'all';
  /** Most undecided characters. Default: 4096; with `all` 16 MiB. */
  readonly bytes?: number;
  /** Longest wait in milliseconds. Default: 2000; with `all` none. */
  readonly time?: number;
  /** When more waits, or for longer. stop: the reply ends with an error. release: what waits leaves unchanged. Default: stop. */
  readonly beyond?: 'stop' | 'release';
}

/** A text of a request. */
export interface RequestTextView {
  readonly role: TextRole;
  readonly kind: RequestTextKind;
  /** Its place in the body of the client's API: `messages.0.content`. */
  readonly place: string;
  readonly text: string;
  /** A signature of its provider covers the text, which cannot be changed. */
  readonly signed: boolean;
  /** Changes the text for all targets. Throws with `observe`, and for thinking that its provider has signed. */
  replace(text: string): void;
}

/** The conversation of a request of any client API. */
export interface RequestView {
  /** All texts in the order of the body, or those of some roles and kinds. Default kinds: all but `thinking`, `file_name` and `definition`. */
  texts(only?: {
    readonly roles?: readonly TextRole[];
    readonly kinds?: readonly RequestTextKind[];
  }): readonly RequestTextView[];
  /** Pictures, sound and files: named, not given. */
  readonly media: readonly { readonly role: TextRole; readonly type: string; readonly place: string }[];
}

/** The part of a request or a reply that hooks cannot read. form: a form with a file. bytes: sound or a file. size: a body beyond `limits.reply`. format: an API whose texts are not known. */
export interface Unseen {
  readonly on: 'request' | 'reply';
  readonly why: 'form' | 'bytes' | 'size' | 'format';
}

/** The finished request. */
export interface EndRecord {
  readonly id: string;
  readonly operation: string | undefined;
  readonly state: ReplyEnd['state'];
  readonly status: number;
  readonly bytes: number;
  /** Code of the error that the client received. */
  readonly error: string | undefined;
  readonly durationMs: number;
  readonly attempts: number;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  readonly finish: string | undefined;
  /** The number of texts that this plugin changed. */
  readonly changed: { readonly request: number; readonly reply: number };
}

/** An event of a reply in the gateway's own form, the same for all APIs. */
export type ReplyEvent = GenerationEvent;

/** The hooks of a plugin: what its `create` returns if the plugin declares `reads`. */
export interface PluginHooks<C = object> {
  /** Before the rest of the chain. */
  request?(view: RequestView, ctx: C): void | Promise<void>;
  /**
   * The transform of one text of the reply, for each channel; undefined: it is not read. With `observe` the result of the
   * transform has no effect.
   */
  reply?(channel: TextChannel, ctx: C): TextTransform | undefined;
  /** With `events`: a function for the events of one reply; what it returns takes the place of the event. */
  events?(ctx: C): (event: ReplyEvent) => ReplyEvent | readonly ReplyEvent[] | undefined;
  /** Called for what the hooks cannot read. A GatewayError that it throws refuses the request. */
  unseen?(what: Unseen, ctx: C): void;
  /** Called when the reply has left: once for each request that has reached the plugin, at the level `attempt` for each attempt. Nothing waits for it. */
  end?(record: EndRecord, ctx: C): void | Promise<void>;
}
