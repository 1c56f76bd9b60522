import { expect, it, onTestFinished } from 'vitest';
import { chat, endStore, startAdmin } from './kit.ts';

it('An explanation that shows the body of a request is in the audit with who asked for it', async () => {
  const admin = await startAdmin({
    admin: { content: true },
    teams: { teams: { search: {} } },
    gateway: { default: { provider: '@sim', reply_headers: ['explain_id'] } },
  });
  onTestFinished(() => admin.close());
  const token = await admin.token('viewer', { content: true });
  const reply = await chat(admin);
  const id = reply.headers.get('x-gateway-explain-id')!;
  const explained = await admin.ask('GET', `/explain/${id}?texts=true`, { token });
  expect([explained.status, explained.text]).toEqual([200, expect.stringContaining('canary')]);
  expect((await admin.ask('GET', '/explain/unknown', { token })).status).toBe(404);
  expect((await admin.ask('GET', `/explain/${id}`, { token: 'gha_wrong' })).status).toBe(401);
  const rows = await admin.gateway.state!.store!.audit.rows({ kind: 'requests' });
  expect(rows).toMatchObject([{ action: 'read', id, role: 'viewer', actor: expect.stringMatching(/^token:t-/) }]);
  // While the audit takes no rows, nobody reads the body: neither with a token of the store nor from this machine without one.
  await endStore(admin);
  for (const asked of [{ token }, {}]) {
    const refused = await admin.ask('GET', `/explain/${id}?texts=true`, asked);
    expect([refused.status, refused.json.code, refused.text.includes('canary')]).toEqual([
      503,
      'store_unavailable',
      false,
    ]);
  }
});
