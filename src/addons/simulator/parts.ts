import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import { simulator } from './provider.ts';

export const parts: AddOnParts = {
  providers: [simulator],
};
