import { LRUCache } from 'lru-cache';
import type { GatewayFile, ServerFile } from '../../../../schemas/types.generated.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { GatewayConfig } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import { checkInlineConfig } from '../checks/index.ts';
import { aboutFile, describe, sortDiagnostics, type Diagnostic } from '../source/diagnostic.ts';
import type { AliasedModels } from '../compile/aliased-models.ts';
import { compileGatewayConfig, type NamedChains } from '../compile/gateway-config.ts';
import type { ReferenceLookup } from '../values/references.ts';
import { schemaProblems } from '../problems/schema-problems.ts';
import { packageSchemas } from '../schema/schemas.ts';
import { asWritten, inOurSpelling } from './spellings.ts';
import { readValues } from '../values/values.ts';
import { YamlFile } from '../source/yaml-file.ts';

const NAME = 'x-gateway-config';
/** Enough for the deepest stored config with a nested value in its override_params. */
const MAX_DEPTH = 32;
const MAX_REPORTED = 5;
/** Each mistake searches all schemas for a suggestion, which takes 0.7 ms (measured), and a caller can make thousands. */
const MAX_EXPLAINED = 50;
const KEPT = { configs: 500, bytes: 32 * 1024 * 1024 };
/** The memory that a pattern may take once it is matched (query/patterns.ts). */
const PATTERN_BYTES = 256 * 1024;

interface Mistaken {
  readonly mistakes: readonly Diagnostic[];
  /** There are more mistakes than were explained. */
  readonly isCut?: boolean | undefined;
}
type InlineResult = { readonly config: GatewayConfig } | Mistaken;

interface InlineConfigsSetup {
  /** Bytes. */
  readonly limit: number;
  /** The server settings that configs are checked against: the gateway's own headers, the plugins of its chains. */
  readonly server: ServerFile;
  /** Keys or teams have budgets, so that each attempt chain needs the plugin. Default: false. */
  readonly hasBudgets?: boolean | undefined;
  /** Lower-case names of headers that hold a credential of a catalog entry: no request may forward one. */
  readonly secretHeaders: readonly string[];
  /** Checks the `plugins` lists of a config and returns their chains. Default: the server's chains. */
  readonly chains?: ((file: GatewayFile, report: Report) => NamedChains) | undefined;
  /** Aliases of models. Default: none. */
  readonly aliases?: AliasedModels | undefined;
  /** Called with the warnings of a config when it is read for the first time. */
  readonly onWarnings: (warnings: readonly Diagnostic[]) => void;
}

/**
 * Gateway configs sent with requests, as JSON. They pass the same schema and checks as files, without the features reserved
 * for files: references (a caller could read the server's environment), `remote_media` and `custom_hosts` (a caller could choose
 * the hosts that the gateway calls), and, without `inline_plugins` of the key, `plugins` (a caller could drop a guard).
 */
export class InlineConfigs {
  readonly #setup: InlineConfigsSetup;
  readonly #credentials: ReadonlyMap<string, string>;
  /** Results by text, mistakes included: clients send the same text with every request, so it is checked and compiled once. */
  readonly #known = new LRUCache<string, InlineResult>({
    max: KEPT.configs,
    maxSize: KEPT.bytes,
    sizeCalculation: (_, json) => json.length + 1 + (json.split('$regex').length - 1) * PATTERN_BYTES,
  });

  constructor(setup: InlineConfigsSetup) {
    this.#setup = setup;
    // The owner is not named: the caller may have no access to it.
    this.#credentials = new Map(setup.secretHeaders.map((name) => [name, 'the gateway']));
  }

  /** @param header name of the request header. Throws GatewayError `invalid_config` with each mistake and its position. */
  get(json: string, header: string, { plugins } = { plugins: false }): GatewayConfig {
    if (Buffer.byteLength(json) > this.#setup.limit)
      throw new GatewayError('invalid_config', `${header} exceeds ${this.#setup.limit} bytes (limits.inline_config).`);
    // No JSON object begins with a letter, so the two outcomes of a text have different keys.
    const key = plugins ? `p${json}` : json;
    let outcome = this.#known.get(key);
    if (!outcome) this.#known.set(key, (outcome = this.#read(json, plugins)));
    if ('config' in outcome) return outcome.config;
    const message = reported(outcome).replaceAll(NAME, () => header);
    throw new GatewayError('invalid_config', message);
  }

  #read(json: string, plugins: boolean): InlineResult {
    const broken = jsonMistake(json);
    if (broken !== undefined) return { mistakes: [broken] };
    const file = YamlFile.parse(NAME, json);
    if (file.syntaxErrors.length > 0) return { mistakes: file.syntaxErrors };
    const { diagnostics, config, isCut } = readConfig(file, {
      ...this.#setup,
      credentials: this.#credentials,
      plugins,
    });
    const mistakes = diagnostics.filter(({ severity }) => severity === 'error');
    if (mistakes.length > 0 || !config) return { mistakes, isCut };
    if (diagnostics.length > 0) this.#setup.onWarnings(diagnostics);
    return { config };
  }
}

/** JSON is YAML (https://yaml.org/spec/1.2.2/#11-goals-and-history), so the YAML reader reads it; but not all YAML is JSON. */
function jsonMistake(text: string): Diagnostic | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    return aboutFile(NAME, `not valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  return depthOf(text) > MAX_DEPTH ? aboutFile(NAME, `nests deeper than ${MAX_DEPTH} levels`) : undefined;
}

/** The nesting depth of valid JSON, in which quotes inside strings are escaped. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{' || token === '[') deepest = Math.max(deepest, (depth += 1));
    else if (token === '}' || token === ']') depth -= 1;
  }
  return deepest;
}

const NO_REFERENCES: ReferenceLookup = {
  paths: [],
  find: () => ({ problem: 'references are allowed in files only; write `$${` for a plain `${`' }),
};

interface ReadOptions extends Pick<InlineConfigsSetup, 'server' | 'chains' | 'hasBudgets' | 'aliases'> {
  readonly credentials: ReadonlyMap<string, string>;
  /** Whether the key has `inline_plugins`. */
  readonly plugins: boolean;
}

function readConfig(
  file: YamlFile,
  { server, credentials, plugins, chains, hasBudgets = false, aliases }: ReadOptions,
): { diagnostics: readonly Diagnostic[]; config: GatewayConfig | undefined; isCut?: boolean } {
  const schemas = packageSchemas();
  const { tree } = schemas;
  const root = schemas.root('gateway');
  const values = readValues(file, root, { tree, lookup: NO_REFERENCES });
  const diagnostics: Diagnostic[] = [...values.diagnostics];
  const report: Report = (problem) =>
    void diagnostics.push(file.diagnose({ ...problem, path: asWritten(problem.path, values.json) }));
  const errors = schemas.validate('gateway', values.json);
  const isCut = errors.length > MAX_EXPLAINED;
  const misfits = schemaProblems(errors.slice(0, MAX_EXPLAINED), values, { tree, root });
  for (const problem of misfits) report(problem);
  if (misfits.length > 0 || values.diagnostics.some(({ severity }) => severity === 'error'))
    return { diagnostics: sortDiagnostics(diagnostics), config: undefined, isCut };
  const config = inOurSpelling(values.json, report);
  checkInlineConfig(config, server, { credentials, plugins, hasBudgets, aliases }, report);
  const named = plugins ? chains?.(config, report) : undefined;
  return {
    diagnostics: sortDiagnostics(diagnostics),
    config: compileGatewayConfig('inline', config, { chains: named, aliases }),
  };
}

function reported({ mistakes, isCut = false }: Mistaken): string {
  const shown = mistakes.slice(0, MAX_REPORTED).map(describe);
  const more = mistakes.length - shown.length;
  const rest = more > 0 ? [`and ${isCut ? 'more than ' : ''}${more} more`] : [];
  return `${[...shown, ...rest].join('; ')}.`;
}
