import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../plugin/index.ts';
import type { FileQuery, FileService, Operation, StoredFile } from '../../../../core/kernel/index.ts';
import { createContext, createExchange, runPlugin } from '../../../../plugin/testing/index.ts';
import files from './index.ts';

const FILE: StoredFile = {
  id: 'file-gh1',
  filename: "a 'b'.pdf",
  mime: 'application/pdf',
  bytes: 3,
  purpose: 'user_data',
  createdAt: 1_800_000_000_500,
  expiresAt: 1_800_003_600_000,
};

const UNUSED: FileService['inPieces'] = {
  begin: () => Promise.reject(new Error('not asked for')),
  add: () => Promise.reject(new Error('not asked for')),
  received: () => Promise.reject(new Error('not asked for')),
  cancel: () => Promise.reject(new Error('not asked for')),
};

const OPENAI = {
  id: 'file-gh1',
  object: 'file',
  bytes: 3,
  created_at: 1_800_000_000,
  expires_at: 1_800_003_600,
  filename: "a 'b'.pdf",
  purpose: 'user_data',
  status: 'processed',
};
const ANTHROPIC = {
  id: 'file-gh1',
  type: 'file',
  filename: "a 'b'.pdf",
  mime_type: 'application/pdf',
  size_bytes: 3,
  created_at: '2027-01-15T08:00:00.500Z',
  expires_at: '2027-01-15T09:00:00.000Z',
  downloadable: true,
};

interface Asking {
  readonly id: string;
  readonly format?: string;
  readonly query?: string;
  readonly method?: string;
}

async function ask({ id, format = 'openai-chat', query = '', method = 'GET' }: Asking) {
  // The plugin reads only the id of an operation, and the name of its format.
  const operation = { id, format: { name: format } } as Operation;
  const exchange = createExchange({ operation, params: { id: 'file-gh1' } });
  const context = createContext(exchange);
  context.req.url = `/v1/files?${query}`;
  context.req.method = method;
  const queries: FileQuery[] = [];
  const removed: string[] = [];
  const source = { open() {}, pause() {}, resume() {}, cancel() {} };
  const service: FileService = {
    upload: () => Promise.resolve(FILE),
    inPieces: UNUSED,
    list: (_, asked) => (queries.push(asked), Promise.resolve({ files: [FILE], hasMore: true })),
    find: () => Promise.resolve(FILE),
    content: () => source,
    remove: (_, one) => (removed.push(one), Promise.resolve()),
  };
  const { nextCalls } = await runPlugin(files, { context, needs: { files: service, keys: { find: () => undefined } } });
  const { reply } = exchange;
  const body: unknown =
    Buffer.isBuffer(reply?.body) && reply.body.length > 0 ? JSON.parse(reply.body.toString()) : undefined;
  return { nextCalls, reply, body, queries, removed, source };
}

describe('files', () => {
  it('passes other operations on', async () => {
    expect(await ask({ id: 'chat.completions' })).toMatchObject({ nextCalls: 1, reply: undefined });
  });

  it.each([
    ['files.create', 'openai-chat', OPENAI],
    ['files.retrieve', 'openai-chat', OPENAI],
    ['files.delete', 'openai-chat', { id: 'file-gh1', object: 'file', deleted: true }],
    [
      'files.list',
      'openai-chat',
      { object: 'list', data: [OPENAI], first_id: 'file-gh1', last_id: 'file-gh1', has_more: true },
    ],
    ['files.create', 'anthropic-messages', ANTHROPIC],
    ['files.retrieve', 'anthropic-messages', ANTHROPIC],
    ['files.delete', 'anthropic-messages', { id: 'file-gh1', type: 'file_deleted' }],
    [
      'files.list',
      'anthropic-messages',
      { data: [ANTHROPIC], has_more: true, first_id: 'file-gh1', last_id: 'file-gh1', next_page: 'file-gh1' },
    ],
  ])('answers %s in the shape of %s', async (id, format, body) => {
    const { nextCalls, reply, body: sent } = await ask({ id, format });
    expect([nextCalls, reply?.status, sent]).toEqual([0, 200, body]);
  });

  it('sends the bytes as they are read, and none for HEAD', async () => {
    const { reply, source } = await ask({ id: 'files.content' });
    expect(reply).toMatchObject({ status: 200, body: source, stream: false });
    expect(reply?.headers['content-disposition']).toBe("attachment; filename*=UTF-8''a%20%27b%27.pdf");
    expect((await ask({ id: 'files.content', method: 'HEAD' })).reply?.body).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['openai-chat', '', { purpose: undefined, limit: 10_000, after: undefined, newestFirst: true }],
    [
      'openai-chat',
      'purpose=batch&limit=5&after=x&order=asc&beta=true',
      { purpose: 'batch', limit: 5, after: 'x', newestFirst: false },
    ],
    ['anthropic-messages', '', { limit: 20, after: undefined, before: undefined, newestFirst: true }],
    ['anthropic-messages', 'page=x&limit=1000', { limit: 1000, after: 'x', before: undefined, newestFirst: true }],
    ['anthropic-messages', 'before_id=x', { limit: 20, after: undefined, before: 'x', newestFirst: true }],
  ])('reads a list of %s with the query %j', async (format, query, expected) => {
    expect((await ask({ id: 'files.list', format, query })).queries).toEqual([expected]);
  });

  it.each([
    ['openai-chat', 'limit=0', 'limit'],
    ['openai-chat', 'limit=10001', 'limit'],
    ['openai-chat', 'limit=1e3', 'limit'],
    ['openai-chat', 'purpose=evals', 'purpose'],
    ['openai-chat', 'order=up', 'order'],
    ['openai-chat', 'after=a&after=b', 'after'],
    ['anthropic-messages', 'after_id=a&before_id=b', 'page'],
    ['anthropic-messages', 'limit=1001', 'limit'],
  ])('refuses a list of %s with the query %j', async (format, query, param) => {
    const refused = ask({ id: 'files.list', format, query });
    await expect(refused).rejects.toBeInstanceOf(GatewayError);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_value', param });
  });
});
