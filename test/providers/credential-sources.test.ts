import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  authorizedUserJson,
  externalAccountJson,
  impersonatedJson,
} from '../../src/core/providers/vertex-ai/credentials.testkit.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { checkSettings } from '../../src/core/dry-run/check-settings.ts';
import { describe as tell, SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { KEY, startTestGateway, writeSettings, type TestGateway } from '../support/gateway.ts';
import { geminiReply, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

// The whole gateway, from its YAML to what the model's host sees.

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sources-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const catalog = (lines: string): string =>
  `providers:\n  - slug: vertex\n    provider: vertex-ai\n    region: global\n${lines}`;

describe('a Vertex entry', () => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await upstream.close();
  });

  /** The model's host and all of Google's token endpoints in one. */
  async function start(lines: string, env: (url: string) => Record<string, string>): Promise<void> {
    upstream = await startUpstream((request, res) => {
      const token = { access_token: 'ya29.e2e', expires_in: 3_599, token_type: 'Bearer' };
      if (request.url.startsWith('/computeMetadata/')) {
        res.setHeader('metadata-flavor', 'Google');
        return json(res, token);
      }
      return json(res, request.url === '/token' ? token : geminiReply('hi'));
    });
    const { url } = upstream;
    gateway = await startTestGateway(
      {
        server: { egress: { token_uris: [`${url}/token`] } },
        catalog: catalog(`${lines}    base_url: ${url}\n    allow_insecure: true\n`),
      },
      { env: env(url) },
    );
  }

  async function chat() {
    const answer = await fetch(`${gateway!.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ model: '@vertex/gemini-2.5-flash', messages: [{ role: 'user', content: 'hi' }] }),
    });
    const asked = upstream.seen.filter(({ url }) => url.includes(':generateContent'));
    return { status: answer.status, headers: asked[0]?.headers };
  }

  it('uses the token of the metadata server', async () => {
    await start('    project_id: my-project\n    credentials: metadata-server\n', (url) => ({
      GCE_METADATA_HOST: url.slice('http://'.length),
    }));
    expect(await chat()).toMatchObject({ status: 200, headers: { authorization: 'Bearer ya29.e2e' } });
  });

  it('uses application default credentials, and says whose quota they count on', async () => {
    await start('    project_id: my-project\n    credentials: application-default\n', (url) => ({
      GOOGLE_APPLICATION_CREDENTIALS: write('adc.json', authorizedUserJson({ token_uri: `${url}/token` })),
    }));
    expect(await chat()).toMatchObject({
      status: 200,
      headers: { authorization: 'Bearer ya29.e2e', 'x-goog-user-project': 'quota-project' },
    });
  });

  it('uses a credentials file, and shows nothing of it', async () => {
    await start(
      '    project_id: my-project\n    credentials_json: ${file:' + join(folder, 'wif.json') + '}\n',
      (url) => {
        const credential_source = { file: write('subject', 'canary-subject') };
        write('wif.json', externalAccountJson('', { token_url: `${url}/token`, credential_source }));
        return {};
      },
    );
    expect(await chat()).toMatchObject({ status: 200, headers: { authorization: 'Bearer ya29.e2e' } });
    expect(new URLSearchParams(upstream.seen[0]?.text).get('subject_token')).toBe('canary-subject');
    for (const secret of ['canary-subject', 'ya29.e2e']) expect(gateway?.logText()).not.toContain(secret);
  });
});

describe('a start without the credentials that the settings count on', () => {
  const refusal = async (lines: string, env: Record<string, string>): Promise<string> => {
    const error: unknown = await startTestGateway({ catalog: catalog(lines) }, { env }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SettingsRefused);
    return error instanceof SettingsRefused ? error.diagnostics.map(tell).join('\n') : '';
  };

  it('is refused at the place in the file', async () => {
    const missing = join(folder, 'missing.json');
    expect(
      await refusal('    project_id: my-project\n    credentials: application-default\n', {
        GOOGLE_APPLICATION_CREDENTIALS: missing,
      }),
    ).toMatch(
      new RegExp(
        `catalog\\.yaml:6:18: No Google token for the catalog entry @vertex: GOOGLE_APPLICATION_CREDENTIALS names ${missing}, and there is no such file$`,
      ),
    );
  });

  it('is refused for a subject token that is not mounted', async () => {
    const subject = join(folder, 'not-mounted');
    const file = write('unmounted.json', externalAccountJson(subject));
    expect(await refusal(`    project_id: my-project\n    credentials_json: \${file:${file}}\n`, {})).toMatch(
      /catalog\.yaml:6:23: .*there is no subject token file .*not-mounted$/,
    );
  });
});

describe('gatehouse validate', () => {
  const problemsOf = async (text: string, file: string): Promise<string> => {
    write(file, text);
    const dir = writeSettings({ catalog: catalog(`    credentials_json: \${file:${join(folder, file)}}\n`) });
    try {
      const loaded = await loadSettings(dir, { env: {} });
      await checkSettings(loaded, dir);
      return loaded.diagnostics.map((diagnostic) => tell({ ...diagnostic, file: 'catalog.yaml' })).join('\n');
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  };
  const at = 'catalog.yaml:5:23: credentials_json: ';
  const external = (changes: Readonly<Record<string, unknown>>): string =>
    externalAccountJson('/var/run/token', changes);

  it.each<[string, string, string]>([
    ['no JSON', 'canary', 'is not a JSON object in the form of Google credentials'],
    [
      'another type',
      '{"type":"canary"}',
      'has a type that is not supported; supported are service_account, authorized_user, external_account, impersonated_service_account',
    ],
    [
      'an executable',
      external({ credential_source: { executable: { command: '/bin/canary' } } }),
      'credential_source.executable: with an executable, a credentials file could make the gateway run any program; only `file` is supported',
    ],
    [
      'a foreign token_url',
      external({ token_url: 'https://canary.example/v1/token' }),
      "token_url is neither Google's nor listed in egress.token_uris of server.yaml",
    ],
    [
      'a chain that stops',
      impersonatedJson({ source_credentials: { type: 'authorized_user', client_id: 'canary' } }),
      'source_credentials: client_secret is missing',
    ],
    ['no project', external({}), 'the credential has no project_id: set project_id'],
  ])('tells of a credentials file with %s', async (_, text, words) => {
    const problems = await problemsOf(text, 'checked.json');
    expect(problems).toBe(`${at}${words}`);
    expect(problems).not.toContain('canary');
  });

  it('does not look for credentials on the machine it runs on', async () => {
    const lines = '    project_id: my-project\n    credentials: application-default\n';
    const dir = writeSettings({ catalog: catalog(lines) });
    const loaded = await loadSettings(dir, { env: {} });
    await checkSettings(loaded, dir);
    expect(loaded.diagnostics).toEqual([]);
    rmSync(dir, { recursive: true, force: true });
  });
});

describe('docs/providers/vertex-ai.md', () => {
  const readme = readFileSync(packageFile('docs/providers/vertex-ai.md'), 'utf8');
  const examples = [...readme.matchAll(/^```yaml\n# configs\/catalog\.yaml\n([\s\S]*?)^```/gm)].map(
    ([, yaml]) => yaml!,
  );

  it('shows every key', () => expect(examples.length).toBeGreaterThan(5));

  it.each(examples)('has an example that is valid: %s', async (yaml) => {
    const file = write('readme.json', externalAccountJson('/var/run/token'));
    const dir = writeSettings({ catalog: yaml.replace('/etc/gatehouse/wif.json', file) });
    const loaded = await loadSettings(dir, { env: { VERTEX_API_KEY: 'a-key' } });
    await checkSettings(loaded, dir);
    expect(loaded.diagnostics).toEqual([]);
    rmSync(dir, { recursive: true, force: true });
  });
});
