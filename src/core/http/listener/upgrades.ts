import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Clock } from '../../../plugin/index.ts';
import type { Turns } from '../../kernel/index.ts';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import type { createRequestPath } from '../gateway/request-path.ts';

/** Connections of the data listener that leave HTTP, such as WebSockets. An add-on serves them. */
export interface Upgrades {
  /** True: the connection of this request is handed over, if the request path agrees. All others are ordinary requests. */
  opens(req: IncomingMessage): boolean;
  serve(server: Server, tools: UpgradeTools): void;
  /** Closes each connection once its running turn has ended. */
  drain(): void;
  terminate(): void;
}

export interface UpgradeTools {
  readonly handle: ReturnType<typeof createRequestPath>;
  readonly koa: (req: IncomingMessage, res: ServerResponse) => Koa.Context;
  readonly clock: Clock;
  readonly turns: Turns;
  /** The settings in force. */
  readonly settings: () => ServerSettings;
  /** The latest response of a connection. */
  readonly replies: WeakMap<Duplex, ServerResponse>;
}
