import type * as File from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { Route, Target } from '../../kernel/index.ts';
import type { AliasedModels } from '../compile/aliased-models.ts';
import type { JsonPath } from '../schema/pointer.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Extras } from '../source/extra-files.ts';
import type { StoredObjects } from '../source/stored-objects.ts';

/** The settings files, undefined for one that could not be read, and the facts that checks need besides. */
export interface CheckedSettings {
  readonly server: File.ServerFile | undefined;
  /** While it is undefined, names of entries are not checked. */
  readonly catalog: File.CatalogFile | undefined;
  readonly keys: File.KeysFile | undefined;
  /** The content of files that only add-ons read. Undefined for a config that was sent with a request. */
  readonly extras?: Extras | undefined;
  /** The objects of the state store. Undefined: there is none, or none is open. */
  readonly stored?: StoredObjects | undefined;
  /** While it is undefined, names of teams are not checked. */
  readonly teams?: File.TeamsFile | undefined;
  readonly gateway: ReadonlyMap<string, File.GatewayFile>;
  /** Ids of all gateway configs, including those that could not be read: of the files, then of the state store. */
  readonly configIds: readonly string[];
  readonly now: number;
  /** Set for a config that was sent with a request. */
  readonly inline?: {
    /** Headers that hold a credential, each with its owner. */
    readonly credentials: ReadonlyMap<string, string>;
    /** The key has `inline_plugins`. */
    readonly plugins: boolean;
    readonly aliases?: AliasedModels | undefined;
    readonly hasBudgets: boolean;
  };
}

/** A config or a target inside it: its part of the file, and its compiled route with inherited settings. */
export interface ConfigNode<R extends Route = Route> {
  readonly file: File.GatewayFile | File.Target;
  readonly route: R;
  readonly path: JsonPath;
}

export interface CheckedConfig {
  readonly file: File.GatewayFile;
  /** The config itself and all targets and groups inside it, outer before inner. */
  readonly nodes: readonly ConfigNode[];
  /** The nodes that requests are sent to. */
  readonly targets: readonly ConfigNode<Target>[];
  /** Reports at paths from the top of the file. */
  readonly report: Report;
}

export interface Reports {
  /** @param file `catalog.yaml`, `gateway/prod.yaml` */
  reporter(file: string): Report;
  /** For files that no load has parsed. */
  add(diagnostics: readonly Diagnostic[]): void;
}

/** The nodes of the settings that a check looks at. Each `report` takes paths from that node. */
export interface Visits {
  /** For what is in no node below: files of add-ons, objects of the state store. */
  others?(reports: Reports): void;
  server?(file: File.ServerFile, report: Report): void;
  catalog?(file: File.CatalogFile, report: Report): void;
  entry?(entry: File.CatalogEntry, report: Report): void;
  keys?(file: File.KeysFile, report: Report): void;
  key?(key: File.GatewayKey, report: Report): void;
  organization?(organization: File.Organization, report: Report): void;
  team?(team: File.Team, report: Report): void;
  config?(config: CheckedConfig, report: Report): void;
  node?(node: ConfigNode, report: Report, config: CheckedConfig): void;
  target?(target: ConfigNode<Target>, report: Report, config: CheckedConfig): void;
}

/** Something that no schema can express: names that refer to nothing, settings that contradict each other. */
export type Check = (settings: CheckedSettings) => Visits;

/** True for a node and everything inside it. */
export const isInside = (path: JsonPath, outer: JsonPath): boolean =>
  outer.every((segment, index) => path[index] === segment);

/** The items of a list, each with the reporter of its place. */
export const itemsOf = <T>(list: readonly T[] = [], report: Report, ...path: JsonPath): (readonly [T, Report])[] =>
  list.map((item, index) => [item, within(report, ...path, index)]);

/** Reports at paths inside `path`. */
export const within =
  (report: Report, ...path: JsonPath): Report =>
  (problem) =>
    report({ ...problem, path: [...path, ...problem.path] });
