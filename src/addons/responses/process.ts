import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { ResponseStore, ResponseLimits } from '../../core/memory/ports.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { familiesOf } from '../../core/record/metrics/metrics.ts';
import { type Clock, GatewayError } from '../../plugin/index.ts';
import { RESPONSE_METRICS } from './metrics.ts';
import { responsesSocket } from './responses-socket.ts';
import { compileWebSockets } from './settings/websockets.ts';
import { FleetResponses } from './store/fleet-responses.ts';
import { MemoryResponses } from './store/responses.ts';
import { answerHandshake } from './websockets/handshake.ts';
import { OpenSockets } from './websockets/open-sockets.ts';
import { opensWebSocket, serveWebSockets } from './websockets/upgrade.ts';
import type { Exchange, ResponseService } from '../../core/kernel/index.ts';
import type { ServerFile } from '../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../core/kernel/units.ts';

export function openResponses({ clock, metrics, shared, port }: PartTools): ProcessPart {
  const own = shared?.responses ?? new MemoryResponses(clock);
  let fleet: FleetResponses | undefined;
  /** Other add-ons fill their ports after this one is opened. */
  const store = (): ResponseStore => {
    const values = port('fleetMemory')?.values;
    return values ? (fleet ??= new FleetResponses(values)) : own;
  };
  const { webSocketsOpen } = familiesOf(metrics.families, RESPONSE_METRICS);
  const sockets = new OpenSockets((state, change) => webSocketsOpen.add({ state }, change));
  return {
    ...sourceOf(store, sockets),
    responses: own,
    upgrades: {
      opens: opensWebSocket,
      serve: (server, tools) => serveWebSockets(server, { ...tools, sockets }),
      drain: () => sockets.drain(),
      terminate: () => sockets.terminate(),
    },
    dry: () => sourceOf(store, new OpenSockets()),
    isolated: () => sourceOf(() => own, new OpenSockets()),
  };
}

/** For a dry run without a process: nothing is kept yet. */
export const dryResponses = (clock: Clock): SnapshotSource => {
  const store = new MemoryResponses(clock);
  return sourceOf(() => store, new OpenSockets());
};

const sourceOf = (storeOf: () => ResponseStore, sockets: OpenSockets): SnapshotSource => ({
  compose({ settings: { server } }) {
    const store = storeOf();
    const kept = compileKept(server.responses);
    const limits = compileWebSockets(server.websockets);
    return {
      granted: { entry: { responses: composeResponses(kept, store) } },
      plugins: [{ level: 'entry', name: 'responses', before: 'config' }],
      answers: new Map([[responsesSocket, (ctx) => answerHandshake(ctx, limits, sockets)]]),
      use() {
        store.apply(kept);
        sockets.limits = limits;
      },
    };
  },
});

/** Part of the store that one response with its input may fill, so that a single one does not evict most others. */
const LARGEST_PART = 1 / 8;

/** The kept responses for requests: each key's own. The key decides here and not in a plugin, so that none can ask for another's. */
function composeResponses({ maxBytes }: Pick<ResponseLimits, 'maxBytes'>, store: ResponseStore): ResponseService {
  return {
    maxBytes: Math.floor(maxBytes * LARGEST_PART),
    measure: (exchange, names) => orUnavailable(() => store.measure(ownerOf(exchange), names)),
    find: (exchange, id) => orUnavailable(() => store.find(ownerOf(exchange), id)),
    findItems: (exchange, ids) => orUnavailable(() => store.findItems(ownerOf(exchange), ids)),
    remove: (exchange, id) => orUnavailable(() => store.remove(ownerOf(exchange), id)),
    keep(exchange, kept) {
      const keeping = store.keep(ownerOf(exchange), kept);
      // A reply does not fail because it is not kept: only a later request that continues it does.
      return keeping instanceof Promise ? keeping.catch(() => {}) : undefined;
    },
  };
}

function ownerOf({ caller }: Exchange): string {
  if (!caller) throw new GatewayError('internal_error', 'Kept responses were asked for before the caller was known.');
  return caller.keyId;
}

function orUnavailable<T>(ask: () => T | Promise<T>): T | Promise<T> {
  const answer = ask();
  if (!(answer instanceof Promise)) return answer;
  return answer.catch((cause: unknown) => {
    // A limit, with its own code and message.
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('store_unavailable', 'The kept responses cannot be read at the moment.', { cause });
  });
}

/** `responses` of server.yaml with its defaults. */
export const compileKept = ({
  store = true,
  max_bytes,
  ttl,
}: NonNullable<ServerFile['responses']> = {}): ResponseLimits => ({
  maxBytes: store ? parseBytes(max_bytes ?? '64MiB') : 0,
  ttlMs: parseDuration(ttl ?? '1h'),
});
