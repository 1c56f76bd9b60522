import type { Clock } from '../../../plugin/index.ts';
import type { EngineAddress } from '../settings/shared.ts';
import { within } from './within.ts';

export type Argument = string | Buffer;

/** One connection, whose commands are pipelined. */
export interface Client {
  send(args: readonly Argument[], bytes: boolean): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  readonly isLost: boolean;
  destroy(): void;
}

interface ConnectOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly limitMs: number;
  readonly onLost: (error: unknown) => void;
}

/** Commands that may wait on one connection; further ones are refused. */
const MOST_WAITING = 10_000;

/** Opens a connection and signs in. Most gateways share nothing and do not load the package. */
export async function connectClient(
  { host, port, tls, username, password, database }: EngineAddress,
  { clock, limitMs, onLost }: ConnectOptions,
): Promise<Client> {
  const { createClient, RESP_TYPES } = await import('@redis/client');
  const common = { host, port, connectTimeout: limitMs, reconnectStrategy: false } as const;
  const client = createClient({
    // Messages and answers share a connection.
    RESP: 3,
    socket: tls ? { ...common, tls: true, rejectUnauthorized: tls.verified } : common,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    commandsQueueMaxLength: MOST_WAITING,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  let lost = false;
  // Without a listener an error event ends the process.
  client.on('error', (error: unknown) => {
    lost = true;
    onLost(error);
  });
  const destroy = (): void => {
    // It throws for a connection that is closed already.
    if (client.isOpen) client.destroy();
  };
  try {
    await within(client.connect(), limitMs, clock);
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    send: (args, bytes) =>
      client.sendCommand(args, bytes ? { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } } : undefined),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    get isLost() {
      return lost;
    },
    destroy,
  };
}
