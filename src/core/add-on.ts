import { addPlugins } from '../../plugins/index.ts';
import type { Clock, Operation, Plugin, Report, Secret } from '../plugin/index.ts';
import type { Command } from './commands/arguments.ts';
import type { LoadForCommand, ValidationPass } from './commands/validate.ts';
import type { Logger } from 'pino';
import type { OpenStore, StateStore } from './ports/store.ts';
import type { Metrics } from './record/metrics/registry.ts';
import type { Settings } from './settings/read/load.ts';
import type { SnapshotSource } from './compose/snapshot-part.ts';
import { addRestartOnly, type RestartOnly } from './process/restart-only.ts';
import type { AdminListener, AdminOptions } from './process/admin-port.ts';
import type { PartTools, ProcessPart } from './process/process-part.ts';
import type { Gateway } from './process/running-gateway.ts';
import type { GatewayOptions } from './process/gateway.ts';
import { addOperations } from './operations/index.ts';
import type { Telemetry, TelemetryOptions } from './record/telemetry.ts';
import type { Provider } from './providers/definition.ts';
import { addProviders } from './providers/index.ts';
import type { Check } from './settings/checks/check.ts';
import { addChecks } from './settings/checks/index.ts';
import { addExtraReaders, type ExtraReader } from './settings/read/extra-files.ts';
import { addParts, type AddedParts } from './settings/compile/added-parts.ts';
import { setAdminSettings } from './settings/compile/server-settings.ts';
import { setCompileNode, type CompileNode } from './settings/compile/compile-node.ts';
import { setStoreSettings, type ReadStoreSettings } from './settings/source/stored-objects.ts';

/** The parts of an add-on: rows for the tables of the core, and what it does for a process and for each snapshot. */
export interface AddOnParts {
  readonly plugins?: readonly Plugin[];
  readonly operations?: readonly Operation[];
  readonly providers?: readonly Provider[];
  readonly checks?: readonly Check[];
  /** Compiles the budgets and limits of organizations, teams and keys. At most one add-on has it. */
  readonly compileNode?: CompileNode;
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
  /** Opens the add-on for a process that serves. */
  readonly open?: (tools: PartTools) => ProcessPart;
  /** The add-on for a dry run without a process. */
  readonly dry?: (clock: Clock) => SnapshotSource;
  /** Creates the listener for operators. At most one add-on has it. */
  readonly createAdmin?: (options: AdminOptions) => AdminListener;
  /** Starts the export of telemetry, if the environment or server.yaml enables it. At most one add-on has it. */
  readonly startTelemetry?: (options: TelemetryOptions) => Promise<Telemetry | undefined>;
  /** Starts a gateway with `size` processes beside this one. At most one add-on has it. */
  readonly startWorkers?: (options: GatewayOptions, size: number) => Promise<Gateway>;
}

interface StorePlace {
  readonly folder: string;
  readonly encryptionKeys?: Secret | undefined;
}

export interface OpenStoreTools {
  /** Injected by tests. Default: opens the store of the settings. */
  readonly open?: ((place: StorePlace, clock: Clock) => Promise<StateStore>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** An add-on: one folder of src/addons, whose index.ts exports it, and one line of src/addons/index.ts. */
export interface AddOn {
  /** The name of its folder. */
  readonly name: string;
  /** By name, such as `prices list`. A command loads its code when it runs. */
  readonly commands?: readonly (readonly [string, Command])[];
  /** Loads the code of the add-on. `version` and `help` call none of them. */
  readonly parts?: () => Promise<AddOnParts>;
}

const registered: AddOnParts[] = [];

/** The parts of all add-ons of this process, in the order of their table. */
export const addOnParts: readonly AddOnParts[] = registered;

/** A part that at most one add-on has. Undefined: this build lacks it. */
export const partOf = <K extends keyof AddOnParts>(key: K): AddOnParts[K] | undefined =>
  registered.find((parts) => parts[key] !== undefined)?.[key];

let registering: Promise<void> | undefined;

/** Adds the rows of all add-ons to the tables of the core. Called before the first settings are read; later calls do nothing. */
export const registerAddOns = (addOns: readonly AddOn[]): Promise<void> => (registering ??= registerAll(addOns));

async function registerAll(addOns: readonly AddOn[]): Promise<void> {
  for (const parts of await Promise.all(addOns.map((addOn) => addOn.parts?.()))) {
    if (!parts) continue;
    addPlugins(parts.plugins ?? []);
    addOperations(parts.operations ?? []);
    addProviders(parts.providers ?? []);
    addChecks(parts.checks ?? []);
    addExtraReaders(parts.extraFiles ?? []);
    if (parts.added) addParts(parts.added);
    if (parts.compileNode) setCompileNode(parts.compileNode);
    if (parts.storeSettings) setStoreSettings(parts.storeSettings);
    if (parts.adminSettings) setAdminSettings(parts.adminSettings);
    addRestartOnly(parts.restartOnly ?? []);
    registered.push(parts);
  }
}

/** The add-ons for dry runs without a process. */
export const dryParts = (clock: Clock): readonly SnapshotSource[] =>
  registered.flatMap(({ dry }) => (dry ? [dry(clock)] : []));
