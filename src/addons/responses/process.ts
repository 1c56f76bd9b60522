import type { SnapshotSource } from '../../core/compose/snapshot-part.ts';
import type { ResponseStore } from '../../core/memory/ports.ts';
import type { PartTools, ProcessPart } from '../../core/process/process-part.ts';
import { familiesOf } from '../../core/record/metrics/metrics.ts';
import type { Clock } from '../../plugin/index.ts';
import { composeResponses } from './compose-responses.ts';
import { RESPONSE_METRICS } from './metrics.ts';
import { responsesSocket } from './responses-socket.ts';
import { compileKept } from './settings/kept.ts';
import { compileWebSockets } from './settings/websockets.ts';
import { FleetResponses } from './store/fleet-responses.ts';
import { MemoryResponses } from './store/responses.ts';
import { answerHandshake } from './websockets/handshake.ts';
import { OpenSockets } from './websockets/open-sockets.ts';
import { opensWebSocket, serveWebSockets } from './websockets/upgrade.ts';

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
