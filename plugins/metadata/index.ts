import {
  definePlugin,
  type Caller,
  type Exchange,
  type InboundRequest,
  type MetadataRules,
} from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { boundEdits } from './bound-body.ts';

/**
 * Reads `x-gateway-metadata`, a JSON object of strings that describes the request, and adds the key's own metadata. Checks
 * both against the rules of the gateway config and derives the cost labels.
 */
export default definePlugin({
  name: 'metadata',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      max_keys: {
        type: 'integer',
        minimum: 1,
        maximum: 64,
        default: 16,
        description: 'Maximum number of keys in one request.',
      },
      max_length: {
        type: 'integer',
        minimum: 1,
        maximum: 1024,
        default: 128,
        description: 'Maximum length of a key or value, in characters.',
      },
    },
  },
  provides: ['metadata'],
  explain({ exchange: { metadata, labels, caller, droppedMetadata = 0 } }) {
    const keys = Object.keys(metadata);
    if (keys.length === 0) return undefined;
    const labelled = Object.keys(labels).length;
    const names = `${keys.length} ${keys.length === 1 ? 'key' : 'keys'}: ${keys.join(', ')}`;
    const bound = Object.keys(caller?.metadata ?? {});
    const does = [
      names,
      ...(labelled === 0 ? [] : [`${labelled} as ${labelled === 1 ? 'a label' : 'labels'}`]),
      ...(bound.length === 0 ? [] : [`the key sets ${bound.join(', ')}`]),
      ...(droppedMetadata === 0 ? [] : [`${droppedMetadata} of the caller's dropped`]),
    ].join('; ');
    const ofKey = { ...(bound.length > 0 && { bound }), ...(droppedMetadata > 0 && { dropped: droppedMetadata }) };
    return { does, details: { keys, labels: Object.keys(labels), ...ofKey } };
  },
  create({ options }) {
    const { max_keys: maxKeys = 16, max_length: maxLength = 128 } = options;
    return {
      step({ exchange }) {
        const header = exchange.request.header('metadata');
        if (header !== undefined)
          exchange.metadata = readMetadata(header, { maxKeys, maxLength, request: exchange.request });
        const { caller } = exchange;
        const bound = caller?.metadata;
        if (caller && bound) bind(exchange, caller, bound);
        const rules = exchange.config?.metadata;
        if (rules) {
          checkRules(exchange.metadata, rules, exchange.request);
          exchange.labels = labelsOf(exchange.metadata, rules);
          if (bound) exchange.boundLabels = new Set(Object.keys(labelsOf(bound, rules)));
        }
        return undefined;
      },
    };
  },
});

interface Bounds {
  readonly maxKeys: number;
  readonly maxLength: number;
  readonly request: InboundRequest;
}

function readMetadata(header: string, { maxKeys, maxLength, request }: Bounds): Readonly<Record<string, string>> {
  const refuse = (what: string): GatewayError =>
    new GatewayError('invalid_header', `${request.headerName('metadata')} ${what}.`);
  const value = parse(header);
  if (value === undefined) throw refuse('is not valid JSON');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('must be a JSON object of strings');
  const entries = Object.entries(value);
  if (entries.length > maxKeys) throw refuse(`has more than ${maxKeys} keys`);
  const metadata: Record<string, string> = Object.create(null);
  for (const [key, text] of entries) {
    if (typeof text !== 'string') throw refuse(`must hold strings; ${show(key)} is not one`);
    if (key.length > maxLength || text.length > maxLength)
      throw refuse(`has a key or value longer than ${maxLength} characters`);
    metadata[key] = text;
  }
  return metadata;
}

/** The key's own values win. */
function bind(exchange: Exchange, caller: Caller, bound: Metadata): void {
  const { metadata, request } = exchange;
  const { keyId, metadataStrict } = caller;
  const edits = boundEdits(exchange, caller, bound);
  const differing = Object.keys(bound).filter((key) => (own(metadata, key) ?? bound[key]) !== bound[key]);
  if (metadataStrict && differing.length > 0)
    throw new GatewayError(
      'metadata_rejected',
      `${request.headerName('metadata')} has another value for ${differing.map(show).join(', ')} than the key ${keyId}, which sets it.`,
    );
  const [first] = edits;
  if (metadataStrict && first) {
    const param = first.path.join('.');
    const message = `\`${param}\` has another value than the key ${keyId}, which sets it.`;
    throw new GatewayError('metadata_rejected', message, { param });
  }
  const { body } = request;
  if (body && first) {
    request.body = body.edit(edits);
    request.body.checked = body.checked;
  }
  if (differing.length + edits.length > 0) exchange.droppedMetadata = differing.length + edits.length;
  exchange.metadata = Object.assign(Object.create(null), metadata, bound);
}

/** Returns undefined for invalid JSON. */
function parse(header: string): unknown {
  try {
    return JSON.parse(header);
  } catch {
    return undefined;
  }
}

type Metadata = Readonly<Record<string, string>>;

function checkRules(metadata: Metadata, { required, allowed }: MetadataRules, request: InboundRequest): void {
  const refuse = (what: string): GatewayError =>
    new GatewayError('metadata_rejected', `${request.headerName('metadata')} ${what}.`);
  const missing = required.filter((key) => !own(metadata, key));
  if (missing.length > 0) throw refuse(`must contain ${missing.map(show).join(', ')}: the gateway config requires it`);
  for (const [key, values] of allowed) {
    const value = own(metadata, key);
    if (value !== undefined && !values.has(value))
      throw refuse(
        `has ${show(value)} for ${show(key)}; the gateway config allows ${[...values].map(show).join(', ')}`,
      );
  }
}

function labelsOf(metadata: Metadata, { labels }: MetadataRules): Metadata {
  if (labels === 'all') return metadata;
  return Object.fromEntries(
    [...(labels ?? [])].flatMap(([key, label]) => {
      const value = own(metadata, key);
      return value === undefined ? [] : [[label, value]];
    }),
  );
}

const own = (metadata: Metadata, key: string): string | undefined =>
  Object.hasOwn(metadata, key) ? metadata[key] : undefined;

const show = (text: string): string => JSON.stringify(text.slice(0, 64));
