import type { ResolvedTarget, SentFile } from '../../src/core/kernel/index.ts';

/** Files named in the description; the rest are counted. */
const DESCRIBED = 5;

/** How the stored files of a request reach its target, and why, for explain. */
export function describeStoredFiles(files: readonly SentFile[], { format }: ResolvedTarget): string {
  const ways = files.slice(0, DESCRIBED).map(({ param, bytes, mime, way, uri }) => {
    const how = way === 'uri' ? `by its address ${uri}` : `inline, ${bytes} bytes of ${mime}`;
    return `${param} ${how}`;
  });
  const more = files.length > DESCRIBED ? [`and ${files.length - DESCRIBED} more`] : [];
  const why = files.some(({ way }) => way === 'uri')
    ? 'Vertex AI reads Cloud Storage itself'
    : files.some(({ uri }) => uri !== undefined)
      ? `${format} here reads no Cloud Storage`
      : 'files of a local folder have no address that a provider could read';
  return `${[...ways, ...more].join('; ')}: ${why}`;
}
