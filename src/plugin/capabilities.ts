import type { Logger } from 'pino';
import type { Format } from '../formats/format.ts';
import type { FormatName } from '../formats/conversation.ts';
import type { Clock } from './clock.ts';
import type { GatewayError } from './errors.ts';
import type { Attempt, AttemptContext, Exchange, GatewayContext } from './exchange.ts';
import type { Reply } from './reply.ts';
import type { Caller, GatewayConfig, Target } from './settings.ts';

/** A target made concrete for one request: catalog entry, model and place. */
export interface ResolvedTarget {
  readonly slug: string;
  readonly provider: string;
  readonly semconvName: string;
  /** Model the upstream knows. */
  readonly model: string;
  /** The same, bounded for metrics: a name the catalog lists, or `__other__`. */
  readonly modelLabel: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: FormatName;
  readonly host: 'vertex' | 'direct';
}

/** One physical try of an attempt. Times are monotonic milliseconds. */
export interface TryRecord {
  readonly startedAt: number;
  firstByteAt: number | undefined;
  firstContentAt: number | undefined;
  endedAt: number | undefined;
  status: number | undefined;
  error: GatewayError | undefined;
  /** Sent again because a kept-alive connection had died unnoticed. */
  resent: boolean;
}

/** Who may call, by key. */
export interface KeyRing {
  /** Constant-time in the key. Undefined: not a gateway key. Throws GatewayError for one that is expired or out of its network. */
  find(key: string, remoteAddress: string): Caller | undefined;
}

/** The gateway configs of the snapshot and the chains compiled for them. */
export interface ConfigDirectory {
  get(id: string): GatewayConfig | undefined;
  readonly ids: readonly string[];
  /** Config of the server for requests that name none. */
  readonly fallbackId: string | undefined;
  /** For requests without any config: one target, told by the request itself. */
  readonly direct: GatewayConfig;
  /** Runs the request chain of `config`. */
  run(config: GatewayConfig, ctx: GatewayContext): Promise<void>;
}

/** Runs the attempt chain for a target in an Attempt of its own. Throws what the attempt throws. */
export interface AttemptRunner {
  run(ctx: GatewayContext, target: Target): Promise<void>;
}

/** The catalog, asked with a request in hand. */
export interface TargetResolver {
  /** Throws GatewayError: unknown or ambiguous provider, not allowed, unusable model. */
  resolve(exchange: Exchange, target: Target, model: string, stream: boolean): ResolvedTarget;
}

/** Sends an attempt's encoded request once: authorises, connects, waits for the commit gate. */
export interface Sender {
  send(exchange: Exchange, attempt: Attempt): Promise<Reply>;
}

export interface Ids {
  /** `call_` and 24 of `[a-z0-9]`. */
  callId(): string;
  /** `chatcmpl-…` for replies whose upstream gives no id. */
  replyId(): string;
}

/** What telemetry writes to; see src/telemetry. */
export interface Recorder {
  /** The request has arrived. Returns what ends it. */
  open(exchange: Exchange): RequestRecording;
}
export interface RequestRecording {
  /** The attempt chain of a target starts; called by the host. */
  close(end: import('./reply.ts').ReplyEnd): void;
}

/** What a plugin may ask its host for, by name, in `needs`. Plugins from outside are never granted `send`. */
export interface Capabilities {
  readonly keys: KeyRing;
  readonly configs: ConfigDirectory;
  readonly attempts: AttemptRunner;
  readonly targets: TargetResolver;
  readonly formats: { get(name: FormatName): Format };
  readonly send: Sender;
  readonly ids: Ids;
  readonly recorder: Recorder;
  readonly limits: RequestLimits;
}
export type CapabilityName = keyof Capabilities;

export interface RequestLimits {
  /** Bytes. */
  readonly body: number;
  readonly jsonDepth: number;
}

export type { AttemptContext, Clock, Logger };
