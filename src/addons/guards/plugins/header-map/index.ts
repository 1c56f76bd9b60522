import { definePlugin, type MappedHeader } from '../../../../core/kernel/index.ts';
import { GatewayError } from '../../../../plugin/index.ts';

/** A token of RFC 9110, section 5.6.2, of bounded length. */
const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$";

/** Takes metadata, and headers of the requests to upstreams, from headers of the client. */
export default definePlugin({
  name: 'header-map',
  level: 'entry',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      metadata: {
        type: 'object',
        propertyNames: { pattern: HEADER_NAME },
        additionalProperties: { type: 'string', minLength: 1, maxLength: 128 },
        maxProperties: 16,
        default: {},
        description: 'Keys of metadata by the header of the client that has their value.',
      },
      upstream: {
        type: 'object',
        propertyNames: { pattern: HEADER_NAME },
        additionalProperties: { type: 'string', pattern: HEADER_NAME },
        maxProperties: 16,
        default: {},
        description: 'Headers of requests to upstreams by the header of the client that has their value.',
      },
      max_length: {
        type: 'integer',
        minimum: 1,
        maximum: 4096,
        default: 256,
        description: 'The most characters of a value. A request with a longer one is refused.',
      },
    },
  },
  requires: ['caller'],
  pure: true,
  explain({ exchange: { request } }, { metadata, upstream }) {
    const sent = (map: Names): Names =>
      Object.fromEntries(Object.entries(map).filter(([from]) => request.headers[from.toLowerCase()] !== undefined));
    const [keys, headers] = [sent(metadata), sent(upstream)];
    const does = [
      ...Object.entries(keys).map(([from, key]) => `${from} becomes the metadata ${key}`),
      ...Object.entries(headers).map(([from, name]) => `${from} is sent as ${name}`),
    ];
    return does.length === 0 ? undefined : { does: does.join(', '), details: { metadata: keys, upstream: headers } };
  },
  create({ options }) {
    const keys = Object.entries(options.metadata).map(([from, key]) => [from.toLowerCase(), key] as const);
    const names = Object.entries(options.upstream).map(
      ([from, name]) => [from.toLowerCase(), name.toLowerCase()] as const,
    );
    return {
      step({ exchange }) {
        const { headers } = exchange.request;
        const valueOf = (from: string): string | undefined => {
          const value = Object.hasOwn(headers, from) ? headers[from] : undefined;
          // node:http joins repeated headers; only `set-cookie`, which is never mapped, arrives as an array.
          if (typeof value !== 'string' || value.length <= options.max_length) return value?.toString();
          throw new GatewayError('invalid_header', `${from} is longer than ${options.max_length} characters.`);
        };
        const metadata: Record<string, string> = Object.assign(Object.create(null), exchange.metadata);
        for (const [from, key] of keys) {
          const value = valueOf(from);
          if (value !== undefined) metadata[key] = value;
        }
        if (keys.length > 0) exchange.metadata = metadata;
        const mapped: Record<string, MappedHeader> = Object.assign(Object.create(null), exchange.mappedHeaders);
        for (const [from, name] of names) {
          const value = valueOf(from);
          if (value !== undefined) mapped[name] = { from, value };
        }
        if (Object.keys(mapped).length > 0) exchange.mappedHeaders = mapped;
        return undefined;
      },
    };
  },
});

type Names = Readonly<Record<string, string>>;
