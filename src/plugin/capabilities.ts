import type { Format } from '../formats/format.ts';
import type { FormatName, Loss } from '../formats/conversation.ts';
import type { GatewayError } from './errors.ts';
import type { Attempt, Exchange, GatewayContext, Outbound } from './exchange.ts';
import type { Reply, ReplyEnd } from './reply.ts';
import type { Caller, GatewayConfig, Target, TimeoutSettings } from './settings.ts';

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
  /** The catalog entry's own. */
  readonly timeouts: TimeoutSettings;
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
  bytesIn: number;
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

/** Client format → conversation → upstream format, and the way back. */
export interface Translator {
  /** Throws GatewayError for what the target's format must refuse. */
  prepare(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Prepared;
}
export interface Prepared {
  readonly outbound: Outbound;
  readonly losses: readonly Loss[];
}

/** What telemetry writes to; see src/telemetry. */
export interface Recorder {
  /** The request has arrived. Returns what ends it. */
  open(exchange: Exchange): RequestRecording;
}
export interface RequestRecording {
  close(end: ReplyEnd): void;
}

/** What a plugin may ask its host for, by name, in `needs`. Plugins from outside are never granted `send`. */
export interface Capabilities {
  readonly keys: KeyRing;
  readonly configs: ConfigDirectory;
  readonly attempts: AttemptRunner;
  readonly targets: TargetResolver;
  readonly translate: Translator;
  /** The format errors are told in where no operation says otherwise. */
  readonly defaultFormat: Format;
  readonly send: Sender;
  readonly recorder: Recorder;
  readonly limits: RequestLimits;
}
export type CapabilityName = keyof Capabilities;

export interface RequestLimits {
  /** Bytes. */
  readonly body: number;
  readonly jsonDepth: number;
}
