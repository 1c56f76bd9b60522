import type { AddOnParts } from '../../core/add-on.ts';
import { simulator } from './provider.ts';

export const parts: AddOnParts = {
  providers: [simulator],
};
