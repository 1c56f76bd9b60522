import fc from 'fast-check';
import './add-ons.ts';

// The gate must say the same of the same commit: properties are tried with new values on every run at a desk, and with the
// same values in CI.
if (process.env['CI']) fc.configureGlobal({ seed: 20_261_121 });
