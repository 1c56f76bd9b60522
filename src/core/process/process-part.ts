import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { ModelNames } from '../catalog/model-labels.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Watch } from '../compose/chain-builder.ts';
import type { ObjectReplica } from '../settings/source/stored-objects.ts';
import type { EndedRequests } from '../record/ended-requests.ts';
import type { RecordFiles } from '../record/files/record-files.ts';
import type { AccessLines } from '../record/log/access-log.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { Telemetry } from '../record/telemetry.ts';
import type { Taps } from '../kernel/taps.ts';
import type { Environment } from '../settings/values/references.ts';
import type { Upstream } from '../upstream/types.ts';
import type { SnapshotSource } from '../compose/snapshot-part.ts';
import type { Upgrades } from '../http/listener/data-server.ts';
import type { ResponseStore } from '../memory/ports.ts';
import type { SharedByPrimary } from '../ports/shared-by-primary.ts';
import type { AlertDesk, AlertSink } from '../ports/alert.ts';
import type { FleetMemory } from '../ports/fleet-memory.ts';
import type { OpenStore, SharedUsage } from '../ports/store.ts';
import type { BoundedRecord } from '../record/bounded-record.ts';
import type { RequestRecord } from '../record/record.ts';
import type { RecordStore } from '../record/store.ts';
import type { Settings } from '../settings/read/load.ts';
import type { Tenants } from '../settings/compile/tenants.ts';
import type { Captures } from './captures-port.ts';
import type { Console } from './console-port.ts';
import type { Explain } from './explain-port.ts';
import type { CostLedger } from '../record/recorder.ts';
import type { RequestPrices } from '../record/costs.ts';

/** The costs of requests. An add-on has them. */
interface Costs {
  /** The prices at a moment of the clock, in monotonic milliseconds. */
  readonly prices: (at: number) => RequestPrices;
  /** Undefined: costs are written nowhere. */
  readonly ledger: CostLedger | undefined;
}

/** Services of add-ons for the core and for each other. At most one add-on fills a port. */
export interface Ports {
  /** Connections that leave HTTP. */
  readonly upgrades?: Upgrades;
  /** The responses that requests continue. */
  readonly responses?: ResponseStore;
  readonly explain?: Explain;
  readonly console?: Console;
  readonly captures?: Captures;
  readonly alerts?: AlertSink;
  /** Undefined in a worker. */
  readonly alertDesk?: AlertDesk;
  /** The costs of requests, and where they are written. */
  readonly costs?: Costs;
  /** Notes the use of a key of the state store. */
  readonly keyUsed?: (keyId: string, remoteAddress: string, now: number) => void;
  /** Undefined: the gateway shares nothing with others. */
  readonly fleetMemory?: FleetMemory;
  /** Undefined in a worker. */
  readonly usage?: SharedUsage;
}

/** One of one process, one of several, or the process that has the listeners besides those several. */
type RoleKind = 'alone' | 'worker' | 'primary';

export interface Serving {
  readonly role: RoleKind;
  /** Hash of the settings of the start. */
  readonly hash: string;
  readonly tenants: () => Tenants;
}

/** An add-on in one process, with what it holds from one snapshot to the next. */
export interface ProcessPart extends SnapshotSource, Ports {
  /** For dry runs: they read its state and change nothing. Default: the part itself. */
  dry?(): SnapshotSource;
  /** For config tests, which keep state and leave nothing outside of the process. Default: the part itself. */
  isolated?(): SnapshotSource;
  /** Called with the record of each request, when its reply has ended. */
  recorded?(record: RequestRecord, bounded: BoundedRecord): void;
  /** A message of the same part of a worker, for the primary. Plain values. */
  told?(topic: string, message: unknown, worker: number): void;
  /** A question of the primary, or of the listener of this process. Undefined: the topic is not of this part. */
  asked?(topic: string, question: unknown): Promise<unknown> | undefined;
  /** For people, in `/readyz?verbose`. */
  lines?(): readonly string[];
  /** Called before the process serves, and before its workers begin. */
  begin?(serving: Serving): Promise<void>;
  /** Called when the process serves. @param data the listener of applications */
  start?(serving: Serving, data: Server): void;
  /** Called when reloaded settings have taken effect. @param changed files, at most 50 */
  reloaded?(hash: string, changed: readonly string[]): void;
  /** Called after each reload. @param refused the first mistake of a refused one, and its time in milliseconds since 1970 */
  reloadEnded?(refused: { readonly at: number; readonly text: string } | undefined): void;
  /** Applies an equal part of the limits of rates, which this many processes share. */
  shareLimits?(processes: number): void;
  /** The three steps of the end: when the last request has ended, before its record is written, and afterwards. */
  stop?(): Promise<void> | void;
  settle?(): Promise<void>;
  close?(): Promise<unknown>;
}

/** The parts that a process creates before its first settings apply. */
export interface ProcessParts {
  readonly configs: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly accessLines: AccessLines;
  readonly ended: EndedRequests;
  readonly random: (plugin: string) => number;
  readonly metrics: Metrics;
  readonly models: ModelNames;
  readonly upstream: Upstream;
  readonly otel: Telemetry | undefined;
  readonly recordFiles?: RecordFiles | undefined;
  readonly watch?: Watch | undefined;
  readonly role: RoleKind;
  /** Undefined in a worker, and without `state` in server.yaml. */
  readonly store: OpenStore | undefined;
  /** Stores and sinks that the primary has for its workers. Undefined in other processes. */
  readonly shared: SharedByPrimary | undefined;
  /** The objects of the state store. Undefined: there is none. */
  readonly stored: ObjectReplica | undefined;
  /** The settings of the start. */
  readonly settings: Settings;
}

/** From these an add-on opens its part of a process. */
export interface PartTools extends ProcessParts {
  readonly records: RecordStore;
  /** For the add-on captures, which sets its members while it captures. */
  readonly taps: Taps;
  /** All add-ons of the process, for dry runs. */
  readonly dry: () => readonly SnapshotSource[];
  /** The port that an add-on of the process fills. All are there once the first settings are compiled. */
  readonly port: <K extends keyof Ports>(key: K) => Ports[K] | undefined;
}

/** Undefined: no add-on of the build fills the port. */
export const portOf = <K extends keyof Ports>(parts: readonly ProcessPart[], key: K): Ports[K] | undefined =>
  parts.find((part) => part[key] !== undefined)?.[key];

/** Asks the part of a process that knows the topic. */
export function askPart(parts: readonly ProcessPart[], topic: string, question: unknown): Promise<unknown> {
  for (const part of parts) {
    const answer = part.asked?.(topic, question);
    if (answer) return answer;
  }
  return Promise.reject(new Error(`no part of this process answers ${topic}`));
}
