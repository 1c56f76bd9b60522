import { LRUCache } from 'lru-cache';
import type { GatewayFile, ServerFile, Target } from '../../../schemas/types.generated.ts';
import { GatewayError, type GatewayConfig } from '../../plugin/index.ts';
import { checkGatewayConfig } from '../checks/gateway.ts';
import { describe, sortDiagnostics, type Diagnostic } from '../problems/diagnostic.ts';
import { compileGatewayConfig } from './gateway-config.ts';
import type { JsonPath } from '../read/pointer.ts';
import type { ReferenceLookup } from '../read/resolve-references.ts';
import { schemaProblems } from '../problems/schema-problems.ts';
import { packageSchemas } from '../read/schemas.ts';
import { asWritten, inOurSpelling } from '../read/spellings.ts';
import { readValues } from '../read/values.ts';
import { YamlFile } from '../source/yaml-file.ts';

const NAME = 'x-gateway-config';
/** As deep as the deepest stored config with a nested value in its override_params. */
const MAX_DEPTH = 32;
/** More are not told in one answer. */
const MAX_TOLD = 5;
/** Each mistake is looked up in all schemas for a suggestion, which takes 0.7 ms (measured); a caller can make thousands. */
const MAX_EXPLAINED = 50;
const KEPT = { configs: 500, bytes: 32 * 1024 * 1024 };
/** What a pattern may come to hold once it is asked (query/patterns.ts). */
const PATTERN_BYTES = 256 * 1024;

interface Mistaken {
  readonly mistakes: readonly Diagnostic[];
  /** There are more of them. */
  readonly isCut?: boolean | undefined;
}
type Outcome = { readonly config: GatewayConfig } | Mistaken;

export interface InlineConfigsSetup {
  /** Bytes. */
  readonly limit: number;
  /** What configs in files are checked against: the gateway's own headers, the plugins of its chains. */
  readonly server: ServerFile;
  /** A config was read for the first time that says something doubtful or in another gateway's words. */
  readonly onWarnings: (warnings: readonly Diagnostic[]) => void;
}

/**
 * Gateway configs that come with requests, as JSON. The same schema and the same checks as for files, with what only a file may
 * do taken out: references (a caller would read the server's environment), `plugins` (a caller would leave out a guard),
 * `remote_media` and `custom_hosts` (a caller would choose which hosts the gateway asks).
 */
export class InlineConfigs {
  readonly #setup: InlineConfigsSetup;
  /** Clients send the same text with every request: it is checked and compiled once, mistakes as well. */
  readonly #known = new LRUCache<string, Outcome>({
    max: KEPT.configs,
    maxSize: KEPT.bytes,
    sizeCalculation: (_, json) => json.length + 1 + (json.split('$regex').length - 1) * PATTERN_BYTES,
  });

  constructor(setup: InlineConfigsSetup) {
    this.#setup = setup;
  }

  /** @param header name of the header it came in. Throws GatewayError `invalid_config`, which says what is wrong where. */
  get(json: string, header: string): GatewayConfig {
    if (Buffer.byteLength(json) > this.#setup.limit)
      throw new GatewayError('invalid_config', `${header} exceeds ${this.#setup.limit} bytes (limits.inline_config).`);
    let outcome = this.#known.get(json);
    if (!outcome) this.#known.set(json, (outcome = this.#read(json)));
    if ('config' in outcome) return outcome.config;
    throw new GatewayError(
      'invalid_config',
      reported(outcome).replaceAll(NAME, () => header),
    );
  }

  #read(json: string): Outcome {
    const broken = jsonMistake(json);
    if (broken !== undefined) return { mistakes: [broken] };
    const file = YamlFile.parse(NAME, json);
    if (file.syntaxErrors.length > 0) return { mistakes: file.syntaxErrors };
    const { diagnostics, config, isCut } = readConfig(file, this.#setup.server);
    const mistakes = diagnostics.filter(({ severity }) => severity === 'error');
    if (mistakes.length > 0 || !config) return { mistakes, isCut };
    if (diagnostics.length > 0) this.#setup.onWarnings(diagnostics);
    return { config };
  }
}

/** JSON is YAML (https://yaml.org/spec/1.2.2/#11-goals-and-history), so one reader serves; but YAML is not JSON. */
function jsonMistake(text: string): Diagnostic | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    return mistake(`not valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  return depthOf(text) > MAX_DEPTH ? mistake(`nests deeper than ${MAX_DEPTH} levels`) : undefined;
}

const mistake = (message: string): Diagnostic => ({ file: NAME, line: 1, column: 1, severity: 'error', message });

/** Of text that is valid JSON: quotes inside strings are escaped. */
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
  find: () => ({ problem: 'references are for files; a plain `${` is written `$${`' }),
};

function readConfig(
  file: YamlFile,
  server: ServerFile,
): { diagnostics: readonly Diagnostic[]; config: GatewayConfig | undefined; isCut?: boolean } {
  const schemas = packageSchemas();
  const { tree } = schemas;
  const root = schemas.root('gateway');
  const values = readValues(file, root, { tree, lookup: NO_REFERENCES });
  const diagnostics: Diagnostic[] = [...values.diagnostics];
  const report: Parameters<typeof checkGatewayConfig>[2] = ({ path, on, severity = 'error', message, suggestion }) =>
    diagnostics.push({
      file: NAME,
      ...file.locate(asWritten(path, values.json), on),
      severity,
      message,
      ...(suggestion !== undefined && { suggestion }),
    });
  const errors = schemas.validate('gateway', values.json);
  const isCut = errors.length > MAX_EXPLAINED;
  const misfits = schemaProblems(errors.slice(0, MAX_EXPLAINED), values, { tree, root });
  for (const problem of misfits) report(problem);
  if (misfits.length > 0 || values.diagnostics.some(({ severity }) => severity === 'error'))
    return { diagnostics: sortDiagnostics(diagnostics), config: undefined, isCut };
  const config = inOurSpelling(values.json, report);
  if (config.plugins)
    report({ path: ['plugins'], on: 'key', message: 'a config that comes with a request cannot choose `plugins`' });
  for (const path of [...remoteMediaIn(config, []), ...(config.custom_hosts ? [['custom_hosts']] : [])]) {
    const message = `a config that comes with a request cannot allow \`${path.at(-1)}\`: the hosts are for the operator to choose`;
    report({ path, on: 'key', message });
  }
  const explainId = config.reply_headers?.indexOf('explain_id') ?? -1;
  if (explainId >= 0) {
    const message = 'a config that comes with a request cannot ask for `explain_id`: bodies are kept for it';
    report({ path: ['reply_headers', explainId], message });
  }
  // Which catalog entries there are is for the request's own target resolution to say, in what the key may use.
  checkGatewayConfig(config, { entries: undefined, configIds: [], server, now: 0, fromCaller: true }, report);
  return { diagnostics: sortDiagnostics(diagnostics), config: compileGatewayConfig('inline', config) };
}

function remoteMediaIn({ remote_media: own, targets = [] }: GatewayFile | Target, path: JsonPath): JsonPath[] {
  const inside = targets.flatMap((target, index) => remoteMediaIn(target, [...path, 'targets', index]));
  return own ? [[...path, 'remote_media'], ...inside] : inside;
}

function reported({ mistakes, isCut = false }: Mistaken): string {
  const shown = mistakes.slice(0, MAX_TOLD).map(describe);
  const more = mistakes.length - shown.length;
  const rest = more > 0 ? [`and ${isCut ? 'more than ' : ''}${more} more`] : [];
  return `${[...shown, ...rest].join('; ')}.`;
}
