import { expect, it, onTestFinished } from 'vitest';
import { endStore, FILE_KEY, startAdmin } from './kit.ts';

it('An explanation that shows the body of a request is in the audit with who asked for it', async () => {
  const admin = await startAdmin({
    teams: { teams: { search: {} } },
    gateway: { default: { provider: '@sim', reply_headers: ['explain_id'] } },
  });
  onTestFinished(() => admin.close());
  const token = await admin.token('viewer');
  const reply = await fetch(`${admin.gateway.data.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${FILE_KEY}` },
    body: JSON.stringify({ model: '@sim/m', max_tokens: 10, messages: [{ role: 'user', content: 'canary' }] }),
  });
  await reply.arrayBuffer();
  const id = reply.headers.get('x-gateway-explain-id')!;
  const explained = await admin.ask('GET', `/explain/${id}`, { token });
  expect([explained.status, explained.text]).toEqual([200, expect.stringContaining('canary')]);
  expect((await admin.ask('GET', '/explain/unknown', { token })).status).toBe(404);
  expect((await admin.ask('GET', `/explain/${id}`, { token: 'gha_wrong' })).status).toBe(401);
  const rows = await admin.gateway.state!.store!.audit.rows({ kind: 'requests' });
  expect(rows).toMatchObject([{ action: 'read', id, role: 'viewer', actor: expect.stringMatching(/^token:t-/) }]);
  // While the audit takes no rows, nobody reads the body: neither with a token of the store nor from this machine without one.
  await endStore(admin);
  for (const asked of [{ token }, {}]) {
    const refused = await admin.ask('GET', `/explain/${id}`, asked);
    const code = refused.json.code ?? refused.json.error?.code;
    expect([refused.status, code, refused.text.includes('canary')]).toEqual([503, 'store_unavailable', false]);
  }
});
