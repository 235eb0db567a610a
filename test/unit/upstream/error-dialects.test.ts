// Error bodies as frameworks send them by default, word for word.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toUpstreamRefusal } from '../../../gateway/upstream/errors/upstream-errors.ts';
import { refused } from './declared.ts';

interface Row {
  readonly framework: string;
  readonly status: number;
  readonly body: string;
  readonly mediaType?: string;
  readonly place?: 'body' | 'query';
  readonly message: string;
  readonly code?: string;
  /** `in param pointer code message` of each entry of `errors`. */
  readonly errors?: readonly string[];
}

const problem = 'application/problem+json; charset=utf-8';

const rows: readonly Row[] = [
  {
    framework: 'FastAPI, HTTPException',
    status: 404,
    body: '{"detail":"Item not found"}',
    code: 'resource_missing',
    message: 'Item not found',
  },
  {
    framework: 'FastAPI with Pydantic 2',
    status: 422,
    body: '{"detail":[{"type":"missing","loc":["body","name"],"msg":"Field required","input":{"password":"hunter2"}},{"type":"int_parsing","loc":["query","size"],"msg":"Input should be a valid integer, unable to parse string as an integer","input":"many"},{"type":"greater_than","loc":["body","items",0,"qty"],"msg":"Input should be greater than 0","input":0,"ctx":{"gt":0}}]}',
    message: 'name: Field required',
    errors: [
      'body name /name missing Field required',
      'query size - int_parsing Input should be a valid integer, unable to parse string as an integer',
      'body items.0.qty /items/0/qty greater_than Input should be greater than 0',
    ],
  },
  {
    framework: 'FastAPI with Pydantic 1',
    status: 422,
    body: '{"detail":[{"loc":["path","item_id"],"msg":"value is not a valid integer","type":"type_error.integer"}]}',
    message: 'item_id: value is not a valid integer',
    errors: ['path item_id - type_error_integer value is not a valid integer'],
  },
  {
    framework: 'Django REST framework, detail',
    status: 403,
    body: '{"detail":"You do not have permission to perform this action.","code":"permission_denied"}',
    code: 'permission_denied',
    message: 'You do not have permission to perform this action.',
  },
  {
    framework: 'Django REST framework, serializer',
    status: 400,
    body: '{"name":["This field is required."],"items":[{},{"qty":["A valid integer is required."]}],"non_field_errors":["The dates overlap."]}',
    message: 'name: This field is required.',
    errors: [
      'body name /name invalid This field is required.',
      'body items.1.qty /items/1/qty invalid A valid integer is required.',
      'body   invalid The dates overlap.',
    ],
  },
  {
    framework: 'Django REST framework, filter of a list',
    status: 400,
    body: '{"since":["Enter a valid date."]}',
    place: 'query',
    message: 'since: Enter a valid date.',
    errors: ['query since - invalid Enter a valid date.'],
  },
  {
    framework: 'Spring Boot, BasicErrorController',
    status: 400,
    body: '{"timestamp":"2026-03-01T10:15:30.123+00:00","status":400,"error":"Bad Request","path":"/books"}',
    message: 'Bad Request',
  },
  {
    framework: 'Spring Boot with server.error.include-message and a trace',
    status: 400,
    body: '{"timestamp":"2026-03-01T10:15:30.123+00:00","status":400,"error":"Bad Request","trace":"org.springframework.web.bind.MethodArgumentNotValidException: …\\n\\tat org.springframework.web.servlet.DispatcherServlet.doDispatch(DispatcherServlet.java:1089)","message":"JSON parse error: Cannot deserialize value of type `com.example.books.Genre` from String \\"x\\"","path":"/books"}',
    message: 'Bad Request',
  },
  {
    framework: 'Spring Boot with server.error.include-binding-errors',
    status: 400,
    body: '{"timestamp":"2026-03-01T10:15:30.123+00:00","status":400,"error":"Bad Request","message":"Validation failed for object=\'book\'. Error count: 1","errors":[{"codes":["NotBlank.book.title","NotBlank"],"arguments":[{"codes":["book.title","title"],"defaultMessage":"title","code":"title"}],"defaultMessage":"must not be blank","objectName":"book","field":"title","rejectedValue":"hunter2","bindingFailure":false,"code":"NotBlank"}],"path":"/books"}',
    message: "Validation failed for object='book'. Error count: 1",
    errors: ['body title /title notblank must not be blank'],
  },
  {
    framework: 'Spring Boot, ProblemDetail',
    status: 404,
    mediaType: 'application/problem+json',
    body: '{"type":"about:blank","title":"Not Found","status":404,"detail":"No book with id 17.","instance":"/books/17"}',
    code: 'resource_missing',
    message: 'No book with id 17.',
  },
  {
    framework: 'Rails, errors of a model',
    status: 422,
    body: '{"errors":{"email":["has already been taken","is invalid"],"base":["Too many accounts"]}}',
    message: 'email: has already been taken',
    errors: [
      'body email /email invalid has already been taken',
      'body email /email invalid is invalid',
      'body   invalid Too many accounts',
    ],
  },
  {
    framework: 'Rails, full messages',
    status: 422,
    body: '{"errors":["Email has already been taken"]}',
    message: 'Email has already been taken',
    errors: ['body   invalid Email has already been taken'],
  },
  {
    framework: 'Rails, in development',
    status: 404,
    body: '{"status":404,"error":"Not Found","exception":"#<ActiveRecord::RecordNotFound: Couldn\'t find User with \'id\'=17>","traces":{"Application Trace":[{"exception_object_id":1,"id":0,"trace":"app/controllers/users_controller.rb:12:in `show\'"}]}}',
    code: 'resource_missing',
    message: 'Not Found',
  },
  {
    framework: 'ASP.NET Core, ValidationProblemDetails',
    status: 400,
    mediaType: problem,
    body: '{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"One or more validation errors occurred.","status":400,"errors":{"Name":["The Name field is required."],"$.age":["The JSON value could not be converted to System.Int32. Path: $.age | LineNumber: 0 | BytePositionInLine: 10."]},"traceId":"00-1a-2b-00"}',
    message: 'One or more validation errors occurred.',
    errors: ['body Name /Name invalid The Name field is required.', 'body age /age invalid is not valid'],
  },
  {
    framework: 'Laravel',
    status: 422,
    body: '{"message":"The email field is required. (and 1 more error)","errors":{"email":["The email field is required."],"items.0.qty":["The items.0.qty must be a number."]}}',
    message: 'The email field is required. (and 1 more error)',
    errors: [
      'body email /email invalid The email field is required.',
      'body items.0.qty /items/0/qty invalid The items.0.qty must be a number.',
    ],
  },
  {
    framework: 'Fastify',
    status: 400,
    body: '{"statusCode":400,"code":"FST_ERR_VALIDATION","error":"Bad Request","message":"body must have required property \'name\'"}',
    message: "body must have required property 'name'",
  },
  {
    framework: 'NestJS',
    status: 400,
    body: '{"message":["name must be a string","age must be a number"],"error":"Bad Request","statusCode":400}',
    message: 'name must be a string; age must be a number',
  },
  {
    framework: 'LoopBack 4',
    status: 422,
    body: '{"error":{"statusCode":422,"name":"UnprocessableEntityError","message":"The request body is invalid. See error object `details` property for more info.","code":"VALIDATION_FAILED","details":[{"path":"/title","code":"required","message":"must have required property \'title\'","info":{"missingProperty":"title"}}]}}',
    message: 'The request body is invalid. See error object `details` property for more info.',
    errors: ["body title /title required must have required property 'title'"],
  },
  {
    framework: 'Express, the default handler',
    status: 404,
    mediaType: 'text/html; charset=utf-8',
    body: '<!DOCTYPE html>\n<html lang="en">\n<body>\n<pre>Cannot GET /books/17</pre>\n</body>\n</html>\n',
    code: 'resource_missing',
    message: '',
  },
  {
    framework: 'gRPC-Gateway',
    status: 400,
    body: '{"code":3,"message":"invalid argument","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"book.title","description":"must not be empty"}]}]}',
    message: 'invalid argument',
    errors: ['body book.title /book/title invalid must not be empty'],
  },
  {
    framework: 'GraphQL',
    status: 400,
    body: '{"errors":[{"message":"Variable \\"$id\\" got invalid value","locations":[{"line":1,"column":7}],"path":["book",0,"title"],"extensions":{"code":"BAD_USER_INPUT","stacktrace":["GraphQLError: …","    at /srv/app/node_modules/graphql/index.js:1:1"]}}],"data":null}',
    message: 'book.0.title: Variable "$id" got invalid value',
    errors: ['body book.0.title /book/0/title bad_user_input Variable "$id" got invalid value'],
  },
  {
    framework: 'JSON:API',
    status: 422,
    mediaType: 'application/vnd.api+json',
    body: '{"errors":[{"status":"422","source":{"pointer":"/data/attributes/firstName"},"title":"Invalid Attribute","detail":"First name must contain at least two characters."},{"source":{"parameter":"include"},"title":"Invalid Query Parameter"}]}',
    message: 'data.attributes.firstName: First name must contain at least two characters.',
    errors: [
      'body data.attributes.firstName /data/attributes/firstName invalid First name must contain at least two characters.',
      'query include - invalid Invalid Query Parameter',
    ],
  },
  {
    framework: 'OAuth-like services',
    status: 400,
    body: '{"error":"invalid_request","error_description":"x"}',
    code: 'invalid_request',
    message: 'invalid_request',
  },
];

describe('error bodies of frameworks', () => {
  for (const { framework, status, body, mediaType = 'application/json', place, ...expected } of rows) {
    it(`understands ${framework}`, () => {
      const { words, fields } = toUpstreamRefusal(
        status,
        { 'content-type': mediaType },
        Buffer.from(body),
        refused(place === 'query' ? 'GET' : 'POST'),
      ).details;
      assert.equal(words?.status, status);
      assert.equal(words?.code, expected.code ?? 'upstream_rejected');
      if (expected.message !== '') assert.equal(words?.message, expected.message);
      const errors = (fields?.errors ?? []) as readonly Record<string, string>[];
      assert.deepEqual(
        errors.map((error) => [error.in, error.param, error.pointer ?? '-', error.code, error.message].join(' ')),
        expected.errors ?? [],
      );
      const text = JSON.stringify([words, fields]);
      for (const internal of [
        'hunter2',
        'springframework',
        'node_modules',
        'ActiveRecord',
        'System.',
        'com.example',
        '<pre>',
      ])
        assert.ok(!text.includes(internal), `${internal} must not reach clients: ${text}`);
    });
  }
});

describe('sentences that show internals', () => {
  const messageOf = (message: string) =>
    toUpstreamRefusal(400, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify({ message })), refused())
      .details.words?.message;
  const plain = messageOf('');

  for (const text of [
    'TypeError: x is undefined\n    at Object.<anonymous> (/srv/app/index.js:1:1)',
    'could not open /var/lib/books/17.json',
    'C:\\inetpub\\books\\web.config',
    'java.lang.NullPointerException',
    'com.example.books.BookService failed',
    'SQLSTATE[23000]: Integrity constraint violation',
    'SELECT * FROM users WHERE id = 17 failed',
    'Traceback (most recent call last)',
  ]) {
    it(`are replaced: ${JSON.stringify(text)}`, () => assert.equal(messageOf(text), plain));
  }

  for (const text of [
    'The format is DD.MM.YYYY.',
    'Ask support, e.g. by mail to help@example.com.',
    'Select a value from the list.',
    'See https://docs.example.com/errors/17.',
    'The ratio 3/4 is too large.',
  ]) {
    it(`do not include ${JSON.stringify(text)}`, () => assert.equal(messageOf(text), text));
  }
});

describe('bounds', () => {
  const fieldsOf = (body: unknown) =>
    toUpstreamRefusal(400, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body)), refused()).details
      .fields;

  it('at most 20 fields are reported', () => {
    const errors = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, ['bad', 'worse']]));
    assert.equal((fieldsOf({ errors })?.errors as unknown[] | undefined)?.length, 20);
  });

  it('a body that is nested too deeply has no fields', () => {
    let nested: unknown = ['deep'];
    for (let depth = 0; depth < 500; depth += 1) nested = { a: nested };
    assert.equal(fieldsOf({ errors: nested }), undefined);
  });

  it('names are cut to 200 characters', () => {
    const [error] = (fieldsOf({ errors: { ['x'.repeat(5000)]: ['bad'] } })?.errors ?? []) as { param: string }[];
    assert.equal(error?.param.length, 200);
  });
});
