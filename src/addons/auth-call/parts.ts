import type { AddOnParts } from '../../core/process/add-on-parts.ts';
import authCall from './plugins/auth-call/index.ts';

export const parts: AddOnParts = { plugins: [authCall] };
