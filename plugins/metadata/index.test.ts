import { describe, expect, it } from 'vitest';
import { createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import metadata from './index.ts';

async function read(header: string | undefined, options: Record<string, unknown> = {}) {
  const exchange = createExchange(header === undefined ? {} : { headers: { 'x-gateway-metadata': header } });
  await runPlugin(metadata, { exchange, options });
  return exchange.metadata;
}

describe('metadata', () => {
  it('reads a JSON object of strings', async () => {
    expect({ ...(await read('{"team":"search","env":"prod"}')) }).toEqual({ team: 'search', env: 'prod' });
  });

  it('leaves a request without the header as it is', async () => {
    expect(await read(undefined)).toEqual({});
  });

  it('takes a key named like something every object has for a key', async () => {
    const found = await read('{"__proto__":"a","constructor":"b"}');
    expect(Object.entries(found)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it.each([
    ['is not valid JSON', 'team=search', {}],
    ['must be a JSON object of strings', '["a"]', {}],
    ['must be a JSON object of strings', 'null', {}],
    ['must hold strings; "n" is not one', '{"n":1}', {}],
    [
      'has more than 16 keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']))),
      {},
    ],
    ['has more than 1 keys', '{"a":"1","b":"2"}', { max_keys: 1 }],
    ['has a key or value longer than 128 characters', JSON.stringify({ a: 'x'.repeat(129) }), {}],
    ['has a key or value longer than 4 characters', '{"abcde":"1"}', { max_length: 4 }],
  ])('refuses a header that %s', async (message, header, options) => {
    await expect(read(header, options)).rejects.toMatchObject({
      code: 'invalid_header',
      status: 400,
      message: `x-gateway-metadata ${message}.`,
    });
  });

  it('accepts values as long as the limit', async () => {
    expect(await read('{"abcd":"efgh"}', { max_length: 4 })).toMatchObject({ abcd: 'efgh' });
  });

  it.each([[{ max_keys: 0 }], [{ max_length: 5000 }], [{ maxKeys: 3 }]])('does not start with %j', async (options) => {
    await expect(read('{}', options)).rejects.toThrow('the options of "metadata"');
  });
});
