import { keepCompiledCode } from '../process/compiled-code.ts';

// First of all: what is imported statically is compiled before anything runs.
keepCompiledCode();
const { main } = await import('./command-line.ts');
await main();
