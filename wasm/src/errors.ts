// SPDX-License-Identifier: Apache-2.0

export type AttnErrorCode =
  | 'invalid-argument'
  | 'unsupported'
  | 'not-found'
  | 'out-of-memory'
  /** The module could not be fetched, compiled or started; the message names the URL. */
  | 'load'
  /** The module trapped: a fault of this library. The instance is dead; `load` gives a new one. */
  | 'internal';

/** The message names the argument and the values that do not fit. */
export class AttnError extends Error {
  readonly code: AttnErrorCode;

  constructor(code: AttnErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AttnError';
    this.code = code;
  }
}

/** By attn_status. */
export const statusCodes: readonly AttnErrorCode[] = [
  'internal', // ATTN_OK is no error
  'invalid-argument',
  'unsupported',
  'not-found',
  'out-of-memory',
];

export function invalid(message: string): AttnError {
  return new AttnError('invalid-argument', message);
}
