import { describe, expect, it } from 'vitest';
import { secretsInBody } from './body-secrets.ts';

const mcp = (more: object) => ({ type: 'mcp', server_label: 'docs', ...more });

describe('the secrets of a body', () => {
  it.each<[string, object, readonly string[]]>([
    ['a token of OpenAI’s tool', { tools: [mcp({ authorization: 'token-01' })] }, ['token-01']],
    [
      'headers of OpenAI’s tool',
      { tools: [mcp({ headers: { authorization: 'Bearer token-01', 'x-key': 'token-02' } })] },
      ['Bearer token-01', 'token-02', 'token-01'],
    ],
    [
      'a tool in a namespace',
      { tools: [{ type: 'namespace', tools: [mcp({ authorization: 'token-01' })] }] },
      ['token-01'],
    ],
    ['a tool among the items', { input: [{ tools: [mcp({ authorization: 'token-01' })] }] }, ['token-01']],
    ['a token of Anthropic’s server', { mcp_servers: [{ authorization_token: 'token-01' }] }, ['token-01']],
    [
      'headers of Google’s server',
      { tools: [{ mcpServers: [{ streamableHttpTransport: { headers: { a: 'token-01' } } }] }] },
      ['token-01'],
    ],
    [
      'headers of Google’s server in snake case',
      { tools: [{ mcp_servers: [{ streamable_http_transport: { headers: { a: 'token-01' } } }] }] },
      ['token-01'],
    ],
  ])('are %s', (_, body, secrets) => {
    expect(secretsInBody(JSON.stringify(body))).toEqual(secrets);
    expect(secretsInBody(Buffer.from(JSON.stringify(body)))).toEqual(secrets);
  });

  it.each<[string, string]>([
    [
      'words of a function’s schema',
      JSON.stringify({
        tools: [
          {
            type: 'function',
            parameters: { properties: { authorization: 'a-long-text', headers: { a: 'a-long-text' } } },
          },
        ],
      }),
    ],
    ['texts that are too short to be one', JSON.stringify({ tools: [mcp({ authorization: 'short' })] })],
    ['a body that is no JSON', '{"authorization": "token-01"'],
    ['a list', '[{"authorization": "token-01"}]'],
  ])('are not %s', (_, body) => {
    expect(secretsInBody(body)).toEqual([]);
  });
});
