import type { Fields } from '../../../schemas/types.generated.ts';
import type { FieldSettings } from '../../plugin/index.ts';

export const compileFields = (file: Fields | undefined): FieldSettings | undefined =>
  file && { preset: file.preset, deny: file.deny, allow: file.allow, mediaBuckets: file.media_buckets };
