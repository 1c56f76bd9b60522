import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { randomOf } from '../../../../test/money/random.ts';
import { isFull } from '../../../../test/support/effort.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { ANN, rowOf } from '../../budgets/store/contract/opened-store.testkit.ts';
import { newSchema, useServer } from './try-server.testkit.ts';

const used = useServer();
const { missing } = used;
const TURNS = isFull('fleet') ? 40 : 8;

const HEAD = 5;
/** Types of messages of a server (https://www.postgresql.org/docs/15/protocol-message-formats.html). */
const TYPES = 'RKZTDCEINAGHWcdsntv123VS';

type Random = () => number;
const below = (random: Random, most: number): number => Math.floor(random() * most);

/** A message of the server, changed. */
const SPOILS: Readonly<Record<string, (message: Buffer, random: Random) => Buffer>> = {
  byte(message, random) {
    const at = message.length > HEAD ? HEAD + below(random, message.length - HEAD) : 0;
    message[at] = below(random, 256);
    return message;
  },
  type(message, random) {
    message[0] = TYPES.charCodeAt(below(random, TYPES.length));
    return message;
  },
  noise: (message, random) => Buffer.from(message.map(() => below(random, 256))),
  long(message) {
    message.writeUInt32BE(0x7fff_ffff, 1);
    return message;
  },
  short(message, random) {
    message.writeUInt32BE(below(random, 4), 1);
    return message;
  },
  twice: (message) => Buffer.concat([message, message]),
  lost: () => Buffer.alloc(0),
};

/** A relay that spoils one message of the server in `every`, on average. 0: none. */
async function startSpoiler(to: number, random: Random) {
  const sockets = new Set<Socket>();
  const spoiler = { port: 0, every: 0, spoiled: 0, close: async () => {} };
  const spoil = (message: Buffer): Buffer => {
    if (spoiler.every === 0 || below(random, spoiler.every) > 0) return message;
    spoiler.spoiled += 1;
    const names = Object.keys(SPOILS);
    return SPOILS[names[below(random, names.length)]!]!(message, random);
  };
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    let waiting = Buffer.alloc(0);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => [client, upstream].forEach((one) => one.destroy()));
    }
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      while (waiting.length >= HEAD && waiting.length > waiting.readUInt32BE(1)) {
        const end = 1 + waiting.readUInt32BE(1);
        client.write(spoil(Buffer.from(waiting.subarray(0, end))));
        waiting = waiting.subarray(end);
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  spoiler.port = (server.address() as AddressInfo).port;
  spoiler.close = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((closed) => void server.close(() => closed()));
  };
  return spoiler;
}

const BOOT = { id: 'b'.repeat(32), host: 'h', role: 'single', version: '1', configHash: '', startedAt: 0 } as const;

/** One call of each kind: functions of the tables, plain statements, transactions, COPY. */
const CALLS: readonly ((store: StateStore, turn: number) => Promise<unknown>)[] = [
  ({ entities }) => entities.load(0),
  ({ entities }, turn) => entities.write([{ op: 'put', kind: 'teams', id: `t${turn}`, doc: {} }], ANN),
  ({ counters }, turn) =>
    counters.take([{ path: [{ node: 'a', period: 0 }], caps: [1e9], need: 1, want: 2 }], BOOT, turn + 1),
  ({ counters }) => counters.read([{ node: 'a', period: 0 }]),
  ({ ledger }, turn) => ledger.append([rowOf(turn, {}), rowOf(turn + 1, {})]),
  ({ ledger }) => ledger.rollups({ from: 0, to: 4e12, by: ['model'], step: 'all' }),
  ({ audit }) => audit.verify(),
  ({ boots }) => boots.live(),
  ({ claims }) => claims.take({ name: 'x', holder: 'h'.repeat(32), ms: 1000 }),
  ({ outbox }) => outbox.take(['x'], 10, 1000),
];

const framed = (type: string, content: string): string =>
  `${type}${String.fromCharCode(0, 0, 0, content.length + 4)}${content}`;

describe('an address that is not of PostgreSQL', () => {
  it.each([
    // The parser of `pg` would look for its end for ever, and nothing else would run.
    ['an error without an end', framed('E', 'SFATAL\0')],
    // These would throw out of an event of the socket, which ends the process.
    ['a row of fewer columns than none', framed('D', '\xff\xf0')],
    ['a head of a row without its columns', framed('T', '\0\x07')],
    ['a page of HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['a greeting of SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an answer to COPY behind a welcome', `${framed('R', '\0\0\0\0')}${framed('Z', 'I')}${framed('G', '')}`],
  ])('is refused where it answers with %s', async (_, answer) => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.write(answer, 'latin1'));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const opening = used.open({ url: `postgres://ann:secret@127.0.0.1:${port}/none`, schema: 'none', patience: 5 });
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' });
    await new Promise((closed) => server.close(closed));
  });
});

describe.skipIf(missing !== undefined)(
  `a store whose server answers rubbish${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    it('ends no process: each call answers or fails as one of a store, and the next connection heals it', async () => {
      const random = randomOf(4711);
      const spoiler = await startSpoiler(used.server.port, random);
      const url = used.server.url(spoiler.port);
      const store = await used.open({ url, schema: newSchema(), listen: true, patience: 1 });
      store.entities.watch(() => {});
      const foreign: unknown[] = [];
      let [answered, failed] = [0, 0];
      for (let turn = 0; turn < TURNS; turn += 1) {
        // A connection takes some twenty messages, and a call five.
        spoiler.every = 10 + below(random, 60);
        await Promise.all(
          CALLS.map((call) =>
            call(store, turn).then(
              () => (answered += 1),
              (error: unknown) => {
                failed += 1;
                // Rows of other columns are found out where they are read.
                if (!(error instanceof StateFailure || error instanceof TypeError)) foreign.push(error);
              },
            ),
          ),
        );
      }
      spoiler.every = 0;
      expect(foreign).toEqual([]);
      expect(Math.min(spoiler.spoiled, answered, failed)).toBeGreaterThan(TURNS);
      await expect
        .poll(() =>
          Promise.all(CALLS.map((call) => call(store, TURNS))).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      await spoiler.close();
    }, 300_000);
  },
);
