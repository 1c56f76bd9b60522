import type { AddOnParts } from '../../core/add-on.ts';
import { drySemanticCache, openSemanticCache } from './process.ts';

export const parts: AddOnParts = { open: openSemanticCache, dry: drySemanticCache };
