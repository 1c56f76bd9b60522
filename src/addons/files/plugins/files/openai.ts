import { FILE_PURPOSES, Query, type FilePage, type FileQuery, type StoredFile } from '../../../../core/kernel/index.ts';
import type { FilesApi } from './files-api.ts';

/** docs/protocols/files.md#openai */
const MAX_LIMIT = 10_000;

function readQuery(text: string): FileQuery {
  const query = new Query(text);
  return {
    purpose: query.oneOf('purpose', FILE_PURPOSES),
    limit: query.number('limit', { byDefault: MAX_LIMIT, max: MAX_LIMIT }),
    after: query.text('after'),
    newestFirst: query.oneOf('order', ['asc', 'desc']) !== 'asc',
  };
}

const toFile = ({ id, bytes, createdAt, expiresAt, filename, purpose }: StoredFile): object => ({
  id,
  object: 'file',
  bytes,
  created_at: Math.floor(createdAt / 1000),
  expires_at: Math.floor(expiresAt / 1000),
  filename,
  purpose,
  status: 'processed',
});

const toPage = ({ files, hasMore }: FilePage): object => ({
  object: 'list',
  data: files.map(toFile),
  first_id: files[0]?.id ?? null,
  last_id: files.at(-1)?.id ?? null,
  has_more: hasMore,
});

export const OPENAI: FilesApi = {
  readQuery,
  toFile,
  toPage,
  removed: (id) => ({ id, object: 'file', deleted: true }),
};
