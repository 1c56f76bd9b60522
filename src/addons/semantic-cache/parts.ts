import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { drySemanticCache, openSemanticCache } from './process.ts';

export const parts: AddOnParts = { open: openSemanticCache, dry: drySemanticCache };
