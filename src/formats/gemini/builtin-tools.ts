import type { BuiltinTool, JsonObject } from '../conversation.ts';
import { COMPUTER_USE_NAMES } from '../open-actions.ts';
import type { LossReport } from '../losses/losses.ts';
import { pick } from './wire.ts';
import { toCamel } from '../json/field-names.ts';
import { compact, isObject } from '../json/object.ts';

/**
 * Tools that Google runs itself (docs/protocols/requests.md#built-in-tools-by-name). OpenAI clients request them with a
 * function of a known name, whose `parameters` are the options: their function `web_search` is Google's.
 */
type BuiltinKind = Exclude<BuiltinTool['kind'], 'image_generation' | 'mcp' | 'opaque'>;

interface Builtin {
  readonly field: string;
  readonly names: readonly string[];
  readonly options: readonly string[];
}

export const BUILTINS: { readonly [K in BuiltinKind]: Builtin } = {
  web_search: {
    field: 'googleSearch',
    names: ['web_search', 'googleSearch', 'google_search'],
    options: ['timeRangeFilter', 'excludeDomains', 'blockingConfidence', 'searchTypes'],
  },
  web_search_retrieval: {
    field: 'googleSearchRetrieval',
    names: ['web_search_retrieval', 'google_search_retrieval', 'googleSearchRetrieval'],
    options: ['dynamicRetrievalConfig'],
  },
  enterprise_web_search: {
    field: 'enterpriseWebSearch',
    names: ['enterprise_web_search', 'enterpriseWebSearch'],
    options: ['excludeDomains', 'blockingConfidence'],
  },
  computer_use: {
    field: 'computerUse',
    names: COMPUTER_USE_NAMES,
    options: ['environment', 'excludedPredefinedFunctions'],
  },
  google_maps: {
    field: 'googleMaps',
    names: ['google_maps', 'googleMaps'],
    options: ['enableWidget', 'authConfig'],
  },
  url_context: { field: 'urlContext', names: ['url_context', 'urlContext'], options: [] },
  code_execution: { field: 'codeExecution', names: ['code_execution', 'codeExecution'], options: [] },
};

export const BUILTIN_KINDS = Object.keys(BUILTINS).filter((kind): kind is BuiltinKind => kind in BUILTINS);

export const isBuiltinKind = (kind: BuiltinTool['kind']): kind is BuiltinKind => kind in BUILTINS;

export function builtinByName(name: string): BuiltinKind | undefined {
  return BUILTIN_KINDS.find((kind) => BUILTINS[kind].names.includes(name));
}

export interface EncodedBuiltin {
  readonly tool: JsonObject;
  /** Location for a maps tool: a field of `toolConfig`. */
  readonly retrievalConfig?: JsonObject;
}

/** Fields that are no options: the envelope of other formats, and the JSON Schema keywords of a function tool. */
const ENVELOPE = new Set(['type', 'name', 'properties', 'required', 'additionalProperties', 'description', '$schema']);

export function encodeBuiltin(
  kind: BuiltinKind,
  options: JsonObject,
  param: string,
  losses: LossReport,
): EncodedBuiltin {
  const { field, options: known } = BUILTINS[kind];
  const kept: JsonObject = {};
  if (isObject(options['properties']) && Object.keys(options['properties']).length > 0) {
    losses.dropped(`${param}.properties`, `Google calls ${field} itself, with arguments of its own`);
  }
  for (const [name, value] of Object.entries(options)) {
    const canonical = toCamel(name);
    if (known.includes(canonical)) kept[canonical] = value;
    else if (kind === 'web_search' && canonical === 'blockedDomains') kept['excludeDomains'] = value;
    else if (kind === 'web_search' && name === 'filters') Object.assign(kept, filtersOf(value, param, losses));
    else if (!ENVELOPE.has(name) && !(kind === 'google_maps' && RETRIEVAL.includes(canonical))) {
      losses.dropped(`${param}.${name}`, `${field} has no such option`);
    }
  }
  const retrievalConfig = kind === 'google_maps' ? retrievalOf(options) : undefined;
  return { tool: { [field]: kept }, ...(retrievalConfig && { retrievalConfig }) };
}

/** OpenAI's Responses API and its clients have the domains one level down (docs/protocols/openai-responses.md#request). */
function filtersOf(filters: unknown, param: string, losses: LossReport): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(isObject(filters) ? filters : {})) {
    if (key === 'blocked_domains') kept['excludeDomains'] = value;
    else losses.dropped(`${param}.filters.${key}`, 'googleSearch has no such filter');
  }
  return kept;
}

const RETRIEVAL = ['latLng', 'languageCode', 'retrievalConfig'];

function retrievalOf(options: JsonObject): JsonObject | undefined {
  const whole = pick(options, 'retrievalConfig');
  if (isObject(whole)) return whole;
  const config = compact({ latLng: pick(options, 'latLng'), languageCode: pick(options, 'languageCode') });
  return Object.keys(config).length > 0 ? config : undefined;
}
