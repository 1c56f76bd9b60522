import { afterEach, expect, it } from 'vitest';
import { chat, startAdmin, type AdminGateway } from './kit.ts';
import { startTestGateway } from '../support/gateway.ts';

let admin: AdminGateway;
afterEach(() => admin.close());

it('Records on disk outlive a restart, and a list reaches back over it', async () => {
  admin = await startAdmin({
    teams: { teams: { search: {} } },
    state: { records: { days: 1 } },
  });
  const token = await admin.token('viewer');
  for (const id of ['one', 'two', 'three']) await chat(admin, { 'x-request-id': id });
  const idsOf = async (query: string) => {
    const { json } = await admin.ask('GET', `/requests?${query}`, { token });
    return { ids: json.items.map((line: { request_id: string }) => line.request_id), next: json.next };
  };
  expect((await idsOf('')).ids).toEqual(['three', 'two', 'one']);
  const before = (await admin.ask('GET', '/requests/two', { token })).json;
  admin = await admin.restart();
  await chat(admin, { 'x-request-id': 'four' });
  const first = await idsOf('limit=2');
  expect([first.ids, (await idsOf(`limit=2&cursor=${first.next}`)).ids]).toEqual([
    ['four', 'three'],
    ['two', 'one'],
  ]);
  expect((await idsOf('key=test&q=tw')).ids).toEqual(['two']);
  expect((await admin.ask('GET', '/requests/two', { token })).json).toEqual(before);
  expect((await admin.ask('GET', '/session', { token })).json.features).toMatchObject({ store: true, records: true });
});

it('Records on disk need a store on disk', async () => {
  admin = await startAdmin();
  const state = { store: { type: 'memory' }, records: {} };
  await expect(startTestGateway({ server: { state } })).rejects.toMatchObject({
    diagnostics: expect.arrayContaining([
      expect.objectContaining({
        file: expect.stringMatching(/server\.yaml$/),
        line: 1,
        message: expect.stringContaining('no folder for records'),
      }),
    ]),
  });
  await expect(startTestGateway({ server: { state: { records: {} } } })).rejects.toMatchObject({
    diagnostics: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('store') })]),
  });
});
