// Loaded before a contestant: the engine counts what an inlined function allocates for the function that it was inlined into.

import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-turbo-inlining');
setFlagsFromString('--no-maglev-inlining');
