import type { WebSockets } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../../core/kernel/units.ts';

export interface WebSocketSettings {
  readonly enabled: boolean;
  /** Origins of web pages that may open one, besides the gateway's own. */
  readonly origins: readonly string[];
  readonly perKey: number;
  readonly frameBytes: number;
  /** Bytes of the latest response of one socket, with its input. */
  readonly keptBytes: number;
  /** Bytes that all sockets hold for requests that are not under way. */
  readonly heldBytes: number;
  readonly turns: number;
  readonly idleMs: number;
  readonly lifetimeMs: number;
}

/** `websockets` of server.yaml with its defaults: times in milliseconds, sizes in bytes. */
export const compileWebSockets = (file: WebSockets = {}): WebSocketSettings => ({
  enabled: file.enabled ?? true,
  origins: file.origins ?? [],
  perKey: file.per_key ?? 64,
  frameBytes: parseBytes(file.frame_bytes ?? '16MiB'),
  keptBytes: parseBytes(file.kept_bytes ?? '8MiB'),
  heldBytes: parseBytes(file.held_bytes ?? '128MiB'),
  turns: file.turns ?? 1000,
  idleMs: parseDuration(file.idle_time ?? '10m'),
  lifetimeMs: parseDuration(file.lifetime ?? '60m'),
});
