import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FILE_KEY, startAdmin, type AdminGateway, type Answer } from './kit.ts';

const ANY = { 'if-match': '*' };
const TO_A = 'provider: "@sim"\noverride_params: { model: sim-a }\n';
const TO_B = 'provider: "@sim"\noverride_params: { model: sim-b }\n';
let admin: AdminGateway;
let token: string;

beforeEach(async () => {
  admin = await startAdmin({ teams: { teams: { search: {} } }, gateway: { default: {} } });
  token = await admin.token('admin');
});
afterEach(() => admin.close());

const call = (method: string, path: string, body?: object, headers = {}): Promise<Answer> =>
  admin.ask(method, path, { token, ...(body && { body }), headers });
const create = (id: string, text: string): Promise<Answer> => call('POST', '/configs', { id, spec: { text } });

/** Where a request with this config goes. */
async function modelOf(config: string): Promise<string> {
  const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${FILE_KEY}`,
      'x-gateway-config': config,
    },
    body: JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'hi' }] }),
  });
  const { model, error } = (await reply.json()) as { model?: string; error?: { code: string } };
  return model ?? error?.code ?? '';
}

describe('a gateway config that the store has', () => {
  it('serves at once, is in the lists with its text and its places, and is there after a restart', async () => {
    const created = await create('search', TO_A);
    expect([created.status, created.json]).toMatchObject([201, { id: 'search', owner: 'store', spec: { text: TO_A } }]);
    expect(await modelOf('search')).toBe('sim-a');
    const { json: list } = await call('GET', '/configs');
    expect(list.items.map(({ id, owner }: { id: string; owner: string }) => [id, owner])).toEqual([
      ['default', 'gateway/default.yaml'],
      ['search', 'store'],
    ]);
    const file = 'store/configs/search';
    expect((await call('GET', '/settings')).json.configs).toContainEqual({ id: 'search', file });
    expect((await call('GET', `/settings/file?path=${file}`)).json.text).toBe(TO_A);
    expect((await call('GET', '/settings/places?config=search')).json.places.config).toMatchObject({ file, line: 1 });
    admin = await admin.restart();
    expect(await modelOf('search')).toBe('sim-a');
  });

  it('is changed and deleted with its ETag; its history says who changed what', async () => {
    const { etag } = (await create('search', TO_A)).json;
    const changed = await call('PATCH', '/configs/search', { spec: { text: TO_B } }, { 'if-match': etag });
    expect([changed.status, await modelOf('search')]).toEqual([200, 'sim-b']);
    const stale = await call('PATCH', '/configs/search', { spec: { text: TO_A } }, { 'if-match': etag });
    expect([stale.status, await modelOf('search')]).toEqual([412, 'sim-b']);
    const [last, before, first] = (await call('GET', '/settings/history')).json.items;
    expect(last).toMatchObject({ by: created(), files: [{ path: 'store/configs/search' }] });
    expect(last.files[0].patch).toContain('-override_params: { model: sim-a }\n+override_params: { model: sim-b }\n');
    expect([before.files[0].patch.startsWith('--- /dev/null'), first.files]).toEqual([true, []]);
    expect((await call('DELETE', '/configs/search', undefined, ANY)).status).toBe(204);
    expect([await modelOf('search'), (await call('GET', '/configs/search')).status]).toEqual(['unknown_config', 404]);

    function created(): string {
      return changed.json.updated_by;
    }
  });

  it('that is wrong is a 422 with line and column, and nothing has changed', async () => {
    const { hash } = (await call('GET', '/settings')).json;
    for (const [text, message] of [
      ['provider: "@simulater"\n', '1:11: '],
      ['provider: [\n', '2:1: '],
      ['colour: red\n', '1:1: '],
    ] as const) {
      const { status, json } = await create('search', text);
      expect([text, status, json.code]).toEqual([text, 422, 'settings_refused']);
      expect(json.errors[0]).toMatchObject({ message: expect.stringContaining(message) });
    }
    expect((await create('search', 'provider: "${env:HOME}"\n')).json.code).toBe('invalid_body');
    expect((await call('GET', '/settings')).json.hash).toBe(hash);
    expect((await call('GET', '/configs/search')).status).toBe(404);
  });

  it('cannot take the place of a file, and a file that takes its place refuses the reload', async () => {
    expect((await create('default', TO_A)).json.code).toBe('owned_by_files');
    await create('search', TO_A);
    writeFileSync(join(admin.configs, 'gateway/search.yaml'), TO_B);
    const reload = await admin.gateway.reload();
    expect(reload.outcome).toBe('refused');
    const { diagnostics } = (await call('GET', '/settings')).json.reload;
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        file: 'gateway/search.yaml',
        message: expect.stringContaining('is also in the store'),
      }),
    );
    expect(await modelOf('search')).toBe('sim-a');
  });

  it('stays while a key names it', async () => {
    await create('search', TO_A);
    writeFileSync(
      join(admin.configs, 'keys.yaml'),
      `keys:\n  - id: test\n    key: ${FILE_KEY}\n    default_config: search\n`,
    );
    expect(await admin.gateway.reload()).toMatchObject({ outcome: 'changed' });
    const refused = await call('DELETE', '/configs/search', undefined, ANY);
    expect([refused.status, refused.json.code]).toEqual([422, 'settings_refused']);
    expect(await modelOf('search')).toBe('sim-a');
  });
});
