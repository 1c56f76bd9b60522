import { definePlugin, GatewayError } from '../../src/plugin/index.ts';

/** Reads `x-gateway-metadata`: a JSON object of strings that names what the request is for. */
export default definePlugin({
  name: 'metadata',
  level: 'request',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      max_keys: { type: 'integer', minimum: 1, maximum: 64, default: 16, description: 'Most keys of one request.' },
      max_length: {
        type: 'integer',
        minimum: 1,
        maximum: 1024,
        default: 128,
        description: 'Longest key or value, in characters.',
      },
    },
  },
  provides: ['metadata'],
  create({ options }) {
    const { max_keys: maxKeys = 16, max_length: maxLength = 128 } = options;
    return async function metadata(ctx, next) {
      const header = ctx.exchange.request.header('metadata');
      if (header !== undefined) ctx.exchange.metadata = readMetadata(header, maxKeys, maxLength);
      await next();
    };
  },
});

function readMetadata(header: string, maxKeys: number, maxLength: number): Readonly<Record<string, string>> {
  const value = parse(header);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('must be a JSON object of strings');
  const entries = Object.entries(value);
  if (entries.length > maxKeys) throw refuse(`has more than ${maxKeys} keys`);
  const metadata: Record<string, string> = Object.create(null);
  for (const [key, text] of entries) {
    if (typeof text !== 'string') throw refuse(`must hold strings; ${JSON.stringify(key.slice(0, 64))} is not one`);
    if (key.length > maxLength || text.length > maxLength)
      throw refuse(`has a key or value longer than ${maxLength} characters`);
    metadata[key] = text;
  }
  return metadata;
}

function parse(header: string): unknown {
  try {
    return JSON.parse(header);
  } catch {
    throw refuse('is not valid JSON');
  }
}

function refuse(what: string): GatewayError {
  return new GatewayError('invalid_header', `x-gateway-metadata ${what}.`);
}
