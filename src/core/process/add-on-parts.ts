import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Finding } from './finding.ts';
import { addParts, type AddedParts } from '../settings/compile/added-parts.ts';
import { setAdminSettings } from '../settings/compile/server-settings.ts';
import type { OpenStoreTools, GatewayOptions } from './gateway-options.ts';
import { addRestartOnly, type RestartOnly } from './restart-only.ts';
import { addExtraReaders, type ExtraReader } from '../settings/source/extra-files.ts';
import { setCompileNode, type CompileNode } from '../settings/compile/compile-node.ts';
import { setStoreSettings, type ReadStoreSettings } from '../settings/source/stored-objects.ts';
import { addStoreDrivers, type StoreDriver } from '../ports/store-driver.ts';
import type { StoreRules } from '../ports/store-rules.ts';
import { addPlugins } from '../../../plugins/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { Operation, Plugin } from '../kernel/index.ts';
import type { Report } from '../kernel/report.ts';
import type { PeriodAt } from '../ports/counters.ts';
import type { PricePort } from '../ports/prices.ts';
import type { PromptPort } from '../ports/prompts.ts';
import type { OpenStore } from '../ports/store.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import type { Environment } from '../settings/values/references.ts';
import type { SnapshotSource } from '../compose/snapshot-part.ts';
import type { AdminListener, AdminOptions } from './admin-port.ts';
import type { EntryTest, TestStep } from './console-port.ts';
import type { RecordCases } from './record-case-port.ts';
import type { Recordings } from './recordings-port.ts';
import type { PartTools, ProcessPart } from './process-part.ts';
import type { Gateway } from './running-gateway.ts';
import { addOperations } from '../operations/index.ts';
import { addMetrics, type MetricRows } from '../record/metrics/metrics.ts';
import type { Telemetry, TelemetryOptions } from '../record/telemetry.ts';
import type { Provider } from '../providers/definition.ts';
import { addProviders } from '../providers/index.ts';
import type { Check } from '../settings/checks/check.ts';
import { addChecks } from '../settings/checks/index.ts';

/** A check beyond the files: it compiles something and reports problems through the result. */
export type ValidationPass = (settings: Settings, result: LoadResult) => Promise<void>;

/** Reads a folder of settings for a command that does not serve. */
export type LoadForCommand = (dir: string, env: Environment) => Promise<LoadResult>;

export interface ExamineTools {
  readonly clock: Clock;
  /** For each connection. */
  readonly timeoutMs: number;
}

/** The parts of an add-on: rows for the tables of the core, and what it does for a process and for each snapshot. */
export interface AddOnParts {
  readonly plugins?: readonly Plugin[];
  readonly operations?: readonly Operation[];
  readonly providers?: readonly Provider[];
  /** Rows of the table of metrics. */
  readonly metrics?: MetricRows;
  readonly checks?: readonly Check[];
  /** Compiles the budgets and limits of organizations, teams and keys. At most one add-on has it. */
  readonly compileNode?: CompileNode;
  /** The add-on that compiles budgets has it. */
  readonly periodAt?: PeriodAt;
  /** At most one add-on has it. */
  readonly prices?: PricePort;
  /** At most one add-on has it. */
  readonly prompts?: PromptPort;
  readonly added?: AddedParts;
  /** Readers of files of the settings folder that only the add-on knows. */
  readonly extraFiles?: readonly ExtraReader[];
  /** Reads the settings of the state store. At most one add-on has it. */
  readonly storeSettings?: ReadStoreSettings;
  /** Compiles the settings of the listener for operators. At most one add-on has it. */
  readonly adminSettings?: Parameters<typeof setAdminSettings>[0];
  /** Keys of server.yaml that are read only at the start. */
  readonly restartOnly?: readonly RestartOnly[];
  /** Checks of `gatehouse validate` beyond the settings files. */
  readonly passes?: readonly ValidationPass[];
  /** Reads settings for a command that does not serve, with what else they depend on. At most one add-on has it. */
  readonly load?: LoadForCommand;
  /**
   * Opens the state store that the settings name. Undefined: they name none, or the store cannot serve, which is reported as an error at its
   * place in server.yaml. At most one add-on has it.
   */
  readonly openStore?: (settings: Settings, tools: OpenStoreTools, report: Report) => Promise<OpenStore | undefined>;
  /** At most one add-on has it. */
  readonly storeRules?: () => Promise<StoreRules>;
  /** Backends of the state store. */
  readonly storeDrivers?: readonly StoreDriver[];
  /** Examines the servers that the settings name, for `gatehouse doctor`. Never rejects. */
  readonly examine?: (server: ServerFile, tools: ExamineTools) => Promise<readonly Finding[]>;
  /** Opens the add-on for a process that serves. */
  readonly open?: (tools: PartTools) => ProcessPart;
  /** The add-on for a dry run without a process. */
  readonly dry?: (clock: Clock) => SnapshotSource;
  /** Tests one entry of a catalog, step by step. At most one add-on has it. */
  readonly testEntry?: (test: EntryTest) => AsyncIterable<TestStep>;
  /** Reads the file of a capture. Throws an Error that names the line. At most one add-on has it. */
  readonly readRecordings?: (text: string, file: string) => Promise<Recordings>;
  /** At most one add-on has it. */
  readonly recordCases?: RecordCases;
  /** Work in a process of its own (jobs.ts), by its name. Input and events are plain values. */
  readonly jobs?: Readonly<Record<string, (input: unknown) => AsyncIterable<object>>>;
  /** Creates the listener for operators. At most one add-on has it. */
  readonly createAdmin?: (options: AdminOptions) => AdminListener;
  /** Starts the export of telemetry, if the environment or server.yaml enables it. At most one add-on has it. */
  readonly startTelemetry?: (options: TelemetryOptions) => Promise<Telemetry | undefined>;
  /** Serves in a process that `startWorkers` has started. */
  readonly runWorker?: () => Promise<unknown>;
  /** Starts a gateway with `size` processes beside this one. At most one add-on has it. */
  readonly startWorkers?: (options: GatewayOptions, size: number) => Promise<Gateway>;
}

const registered: AddOnParts[] = [];

/** The parts of all add-ons of this process, in the order of their table. */
export const addOnParts: readonly AddOnParts[] = registered;

/** A part that at most one add-on has. Undefined: this build lacks it. */
export const partOf = <K extends keyof AddOnParts>(key: K): AddOnParts[K] | undefined =>
  registered.find((parts) => parts[key] !== undefined)?.[key];

/** Undefined: no add-on of the build does this work. */
export const jobOf = (name: string): NonNullable<AddOnParts['jobs']>[string] | undefined =>
  registered.find(({ jobs }) => jobs?.[name])?.jobs?.[name];

/** The add-ons for dry runs without a process. */
export const dryParts = (clock: Clock): readonly SnapshotSource[] =>
  registered.flatMap(({ dry }) => (dry ? [dry(clock)] : []));

export function registerParts(parts: AddOnParts): void {
  addPlugins(parts.plugins ?? []);
  addOperations(parts.operations ?? []);
  addProviders(parts.providers ?? []);
  addChecks(parts.checks ?? []);
  addMetrics(parts.metrics ?? {});
  addExtraReaders(parts.extraFiles ?? []);
  if (parts.added) addParts(parts.added);
  if (parts.compileNode) setCompileNode(parts.compileNode);
  if (parts.storeSettings) setStoreSettings(parts.storeSettings);
  if (parts.adminSettings) setAdminSettings(parts.adminSettings);
  addStoreDrivers(parts.storeDrivers ?? []);
  addRestartOnly(parts.restartOnly ?? []);
  registered.push(parts);
}
