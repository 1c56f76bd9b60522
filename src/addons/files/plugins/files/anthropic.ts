import { GatewayError } from '../../../../plugin/index.ts';
import { Query, type FilePage, type FileQuery, type StoredFile } from '../../../../core/kernel/index.ts';
import type { FilesApi } from './files-api.ts';

/** docs/protocols/files.md#anthropic */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

/** Ids are cursors: `after_id` and `before_id` of the beta, and `page`, which a reply's `next_page` has. */
function readQuery(text: string): FileQuery {
  const query = new Query(text);
  const [after, page, before] = [query.text('after_id'), query.text('page'), query.text('before_id')];
  if ([after, page, before].filter((one) => one !== undefined).length > 1)
    throw new GatewayError('invalid_value', 'Only one of `after_id`, `before_id` and `page` can be given.', {
      param: 'page',
    });
  const limit = query.number('limit', { byDefault: DEFAULT_LIMIT, max: MAX_LIMIT });
  return { limit, after: after ?? page, before, newestFirst: true };
}

const toFile = ({ id, filename, mime, bytes, createdAt, expiresAt }: StoredFile): object => ({
  id,
  type: 'file',
  filename,
  mime_type: mime,
  size_bytes: bytes,
  created_at: new Date(createdAt).toISOString(),
  expires_at: new Date(expiresAt).toISOString(),
  downloadable: true,
});

const toPage = ({ files, hasMore }: FilePage): object => ({
  data: files.map(toFile),
  has_more: hasMore,
  first_id: files[0]?.id ?? null,
  last_id: files.at(-1)?.id ?? null,
  next_page: hasMore ? (files.at(-1)?.id ?? null) : null,
});

export const ANTHROPIC: FilesApi = {
  readQuery,
  toFile,
  toPage,
  removed: (id) => ({ id, type: 'file_deleted' }),
};
