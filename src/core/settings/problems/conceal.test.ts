import { describe, expect, test } from 'vitest';
import { describe as describeDiagnostic } from '../source/diagnostic.ts';
import { memoryFiles } from '../source/files.ts';
import { loadSettings } from '../read/load.ts';

const SERVER = `chains:
  request:
    - plugin: tenant
      options:
        token: \${env:TOKEN}
        url: https://\${env:HOST}/x
        pin: \${env:PIN}
        level: \${env:LEVEL}
`;
const ENV = { TOKEN: 'canary"quoted\\text', HOST: 'canary.example', PIN: '90210', LEVEL: 'on' };

async function reported(message: string, suggestion?: string): Promise<string> {
  const files = memoryFiles({
    'c/server.yaml': SERVER,
    'c/keys.yaml': 'keys: []\n',
    'c/catalog.yaml': 'providers:\n  - { slug: a, provider: anthropic, api_key: plain-canary }\n',
  });
  const result = await loadSettings('c', { env: ENV, files, now: 0 });
  const file = message.includes('plain-') ? 'catalog.yaml' : 'server.yaml';
  result.reporter(file)({ path: [], message, ...(suggestion === undefined ? {} : { suggestion }) });
  return describeDiagnostic(result.diagnostics.find(({ severity }) => severity === 'error')!);
}

describe('a message of a later pass', () => {
  test.each([
    [`cannot use ${ENV.TOKEN}!`, 'cannot use [env:TOKEN]!'],
    [`not ${JSON.stringify(ENV.TOKEN)}`, 'not "[env:TOKEN]"'],
    ['cannot reach https://canary.example/x', 'cannot reach https://[env:HOST]/x'],
    ['90210 is no PIN', '[env:PIN] is no PIN'],
    ['`level` must be off, not "on"', '`level` must be off, not "on"'],
    ['plain-canary is no key', '[secret] is no key'],
    ['sk-ant-api03-canary is no name', '[secret] is no name'],
    ['-----BEGIN PRIVATE KEY-----\ncanary', '[secret]'],
    ['caller:canary@llm.example.com is no host', '[secret]llm.example.com is no host'],
    ['risk-assessment is no plugin', 'risk-assessment is no plugin'],
  ])('%j is shown as %j', async (message, shown) => {
    expect(await reported(message)).toMatch(new RegExp(`:1:1: ${RegExp.escape(shown)}$`));
  });

  test('gives no suggestion that contains a concealed value', async () => {
    expect(await reported('unknown', 'canary.example/32')).toMatch(/: unknown$/);
    expect(await reported('unknown', 'known')).toMatch(/: unknown; did you mean "known"\?$/);
  });
});
