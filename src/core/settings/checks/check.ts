import type {
  CatalogEntry,
  CatalogFile,
  GatewayFile,
  GatewayKey,
  KeysFile,
  Organization,
  PriceRule,
  PricesFile,
  PromptFile,
  ServerFile,
  Target as TargetFile,
  Team,
  TeamsFile,
} from '../../../../schemas/types.generated.ts';
import type { Report, Route, Target } from '../../../plugin/index.ts';
import type { AliasedModels } from '../compile/aliased-models.ts';
import type { PriceTable } from '../../../addons/budgets/prices/price-table.ts';
import type { JsonPath } from '../schema/pointer.ts';

/** The settings files, undefined for one that could not be read, and the facts that checks need besides. */
export interface CheckedSettings {
  readonly server: ServerFile | undefined;
  /** While it is undefined, names of entries are not checked. */
  readonly catalog: CatalogFile | undefined;
  readonly keys: KeysFile | undefined;
  /** Undefined for a config that was sent with a request. */
  readonly prices?: PricesFile | undefined;
  readonly priceTable?: PriceTable | undefined;
  /** While it is undefined, names of teams are not checked. */
  readonly teams?: TeamsFile | undefined;
  readonly gateway: ReadonlyMap<string, GatewayFile>;
  /** Undefined for a config that was sent with a request. */
  readonly prompts?: ReadonlyMap<string, PromptFile>;
  /** Ids of all prompts, including those that could not be read. */
  readonly promptIds?: readonly string[];
  /** Ids of all gateway configs, including those that could not be read. */
  readonly configIds: readonly string[];
  readonly now: number;
  /** Set for a config that was sent with a request. */
  readonly inline?: {
    /** Headers that hold a credential, each with its owner. */
    readonly credentials: ReadonlyMap<string, string>;
    /** The key has `inline_plugins`. */
    readonly plugins: boolean;
    readonly aliases?: AliasedModels | undefined;
    /** Keys or teams have budgets. */
    readonly hasBudgets: boolean;
  };
}

/** A config or a target inside it: its part of the file, and its compiled route with inherited settings. */
export interface ConfigNode<R extends Route = Route> {
  readonly file: GatewayFile | TargetFile;
  readonly route: R;
  readonly path: JsonPath;
}

export interface CheckedConfig {
  readonly file: GatewayFile;
  /** The config itself and all targets and groups inside it, outer before inner. */
  readonly nodes: readonly ConfigNode[];
  /** The nodes that requests are sent to. */
  readonly targets: readonly ConfigNode<Target>[];
  /** Reports at paths from the top of the file. */
  readonly report: Report;
}

/** The nodes of the settings that a check looks at. Each `report` takes paths from that node. */
export interface Visits {
  server?(file: ServerFile, report: Report): void;
  catalog?(file: CatalogFile, report: Report): void;
  entry?(entry: CatalogEntry, report: Report): void;
  keys?(file: KeysFile, report: Report): void;
  key?(key: GatewayKey, report: Report): void;
  price?(rule: PriceRule, report: Report): void;
  organization?(organization: Organization, report: Report): void;
  team?(team: Team, report: Report): void;
  config?(config: CheckedConfig, report: Report): void;
  node?(node: ConfigNode, report: Report, config: CheckedConfig): void;
  target?(target: ConfigNode<Target>, report: Report, config: CheckedConfig): void;
}

/** Something that no schema can express: names that refer to nothing, settings that contradict each other. */
export type Check = (settings: CheckedSettings) => Visits;

/** Reports at paths inside `path`. */
export const within =
  (report: Report, ...path: JsonPath): Report =>
  (problem) =>
    report({ ...problem, path: [...path, ...problem.path] });
