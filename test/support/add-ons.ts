import { addOns } from '../../src/addons/index.ts';
import { registerAddOns } from '../../src/core/commands/add-on.ts';

// Scripts and tests have no command line that registers the add-ons: they import this file first.
await registerAddOns(addOns);
