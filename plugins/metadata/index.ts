import {
  definePlugin,
  type Caller,
  type Exchange,
  type InboundRequest,
  type MetadataRules,
} from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';

/** Reads `x-gateway-metadata`, adds the key's own metadata, checks both by the config's rules, derives cost labels. */
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
    const { max_keys: maxKeys, max_length: maxLength } = options;
    return {
      step({ exchange }) {
        const header = exchange.request.header('metadata');
        if (header !== undefined)
          // A key that another plugin has set is the operator's rule.
          exchange.metadata = Object.assign(
            readMetadata(header, { maxKeys, maxLength, request: exchange.request }),
            exchange.metadata,
          );
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

type Edits = Parameters<NonNullable<Exchange['request']['body']>['edit']>[0];
type BoundMetadata = Readonly<Record<string, string>>;

const USER_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'openai-chat': [['user'], ['safety_identifier']],
  'openai-responses': [['user'], ['safety_identifier']],
  'anthropic-messages': [['metadata', 'user_id']],
};

/** APIs whose `metadata` holds any keys: a value of a bound key is the same statement as one in the header. */
const FREE_METADATA: ReadonlySet<string> = new Set(['openai-chat', 'openai-responses']);

/**
 * The APIs whose requests have cost labels. A label with the name of a bound key is removed if its value differs.
 * Nothing replaces it, because labels allow fewer characters, and the config says which metadata become labels.
 */
const WITH_LABELS: ReadonlySet<string> = new Set(['openai-chat', 'gemini']);

/**
 * The edits that put the key's own values in place of others that the body has for them: `user` of the key's metadata
 * in the API's field for the user, and each of its keys in the body's `metadata`; differing labels go. Nothing is added
 * that the client did not send.
 */
function boundEdits({ operation, request }: Exchange, { keyId }: Caller, bound: BoundMetadata): Edits {
  const { body } = request;
  const format = operation?.format.name;
  if (!body || format === undefined) return [];
  const source = `metadata of the key ${keyId}`;
  const wanted = [
    ...(bound['user'] === undefined ? [] : (USER_FIELDS[format] ?? []).map((path) => ({ path, value: bound['user'] }))),
    ...(FREE_METADATA.has(format)
      ? Object.entries(bound).map(([key, value]) => ({ path: ['metadata', key], value }))
      : []),
    ...(WITH_LABELS.has(format)
      ? Object.entries(bound).map(([key, value]) => ({ path: ['labels', key], value, isRemoved: true }))
      : []),
  ];
  return wanted.flatMap(({ path: [top = '', inner], value, isRemoved = false }: WantedField) => {
    if (!body.has(top)) return [];
    const given = body.value(top);
    const now = inner === undefined ? given : memberOf(given, inner);
    if (now === undefined || now === value) return [];
    return [{ path: inner === undefined ? [top] : [top, inner], value: isRemoved ? undefined : value, source }];
  });
}

interface WantedField {
  readonly path: readonly string[];
  readonly value: string | undefined;
  readonly isRemoved?: boolean;
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
