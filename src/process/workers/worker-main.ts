import { keepCompiledCode } from '../compiled-code.ts';

// First of all, as in cli/main.ts.
keepCompiledCode();
await import('./worker-process.ts');
