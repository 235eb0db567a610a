// The limits of the gateway that the table is played against, small enough to be reached byte by byte.

export const LIMITS = {
  bodyBytesMax: 2000,
  headerBytesMax: 2000,
  urlBytesMax: 300,
  jsonDepthMax: 8,
  jsonMembersMax: 50,
};
