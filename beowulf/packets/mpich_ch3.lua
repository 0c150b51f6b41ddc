-- Shows in Wireshark and tshark what classic MPICH (CH3 over nemesis and TCP) writes into its
-- connections: eager messages, the three packets of a rendezvous, tags, ranks, contexts, lengths.
--
--   tshark -X lua_script:mpich_ch3.lua -r FILE -Y mpich
--   beowulf packets --install-dissector        puts it where Wireshark finds it
--
-- The format is described in ch3.py beside this file. No port has to be known: a connection is
-- recognised by its handshake, or by a header that hardly occurs by chance.

local HEADER, NEEDED, HANDSHAKE = 80, 32, 16
local EAGER, SHORT, SYNCHRONOUS, ACKNOWLEDGED, READY = 0, 1, 2, 3, 4
local REQUEST, CLEAR, DATA, CANCEL_ANSWER = 5, 6, 7, 9
local CLOSE = 35
local NO_REQUEST = 0x2c000000

local KINDS = {
  [0] = "eager", "short eager", "synchronous eager", "synchronous acknowledgement", "ready",
  "request to send", "clear to send", "rendezvous data", "cancel", "cancel answer",
  "put", "put, immediate", "get", "accumulate", "accumulate, immediate",
  "get-accumulate", "get-accumulate, immediate", "fetch-and-op", "fetch-and-op, immediate",
  "compare-and-swap", "get answer", "get answer, immediate", "get-accumulate answer",
  "get-accumulate answer, immediate", "fetch-and-op answer", "fetch-and-op answer, immediate",
  "compare-and-swap answer", "lock", "lock acknowledgement", "lock-and-op acknowledgement",
  "unlock", "flush", "flush acknowledgement", "decrease counter", "flow control", "close", "revoke",
}
local HANDSHAKES = {
  [0] = "call", "answer: yes", "answer: no", "call to a port", "port answer: yes",
  "port answer: no", "closed",
}
-- Kinds with tag, rank, context and length; one-sided ones with data of a length that we do not read.
local MATCHED = { [EAGER] = true, [SYNCHRONOUS] = true, [READY] = true, [REQUEST] = true }
local UNSURE = {
  [10] = true, [12] = true, [13] = true, [15] = true, [17] = true, [20] = true, [22] = true, [24] = true,
}

-- Installed, and named on the command line as well, it is read twice; once is enough.
local is_first, mpich = pcall(Proto, "mpich", "MPICH (CH3 over TCP)")
if not is_first then
  return
end
local fields = {
  kind = ProtoField.uint32("mpich.kind", "Kind", base.DEC, KINDS),
  tag = ProtoField.int32("mpich.tag", "Tag"),
  source = ProtoField.uint16("mpich.source", "Source rank"),
  context = ProtoField.uint16("mpich.context", "Context id"),
  collective = ProtoField.bool("mpich.collective", "Of a collective call"),
  bytes = ProtoField.uint64("mpich.bytes", "Bytes of the message"),
  sender = ProtoField.uint32("mpich.sender_request", "Request of the sender", base.HEX),
  receiver = ProtoField.uint32("mpich.receiver_request", "Request of the receiver", base.HEX),
  answer = ProtoField.bool("mpich.close_answer", "Answers a close"),
  data = ProtoField.bytes("mpich.data", "Data"),
  handshake = ProtoField.uint32("mpich.handshake", "Handshake", base.DEC, HANDSHAKES),
  rank = ProtoField.int32("mpich.handshake_rank", "Rank in MPI_COMM_WORLD"),
  lost = ProtoField.bytes("mpich.lost", "Not understood"),
}
mpich.fields = fields

local stream_of = Field.new("tcp.stream")
-- By number of the stream: who shook hands in which frame, and the lengths of rendezvous under way.
local talks = {}
-- What the first look at a frame found; requests are used again, so that a later look would err.
local remembered = {}

function mpich.init()
  talks, remembered = {}, {}
end

local function talk_of()
  local stream = stream_of()
  local number = stream and stream.value or -1
  if not talks[number] then
    talks[number] = { shaken = {}, asked = {}, cleared = {} }
  end
  return talks[number]
end

local function sender_of(pinfo)
  return tostring(pinfo.src) .. " " .. pinfo.src_port
end

local function receiver_of(pinfo)
  return tostring(pinfo.dst) .. " " .. pinfo.dst_port
end

-- A handle of a request that exists has its highest bit set, which ASCII text never has.
local function is_request(handle)
  return handle == NO_REQUEST or (handle >= 2 ^ 31 and math.floor(handle / 2 ^ 26) % 16 == 11)
end

-- Whether a header that hardly occurs by chance begins here.
local function is_certain(tvb, at)
  if tvb:len() < at + NEEDED then
    return false
  end
  local kind = tvb(at, 4):le_uint()
  if MATCHED[kind] then
    return is_request(tvb(at + 16, 4):le_uint())
      and tvb(at + 8, 4):le_int() >= 0
      and tvb(at + 12, 2):le_uint() < 2 ^ 15
      and tvb(at + 24, 8):le_uint64():tonumber() < 2 ^ 40
  elseif kind == SHORT then
    return tvb(at + 16, 8):le_uint64():tonumber() <= 16
      and tvb(at + 8, 4):le_int() >= 0
      and tvb(at + 12, 2):le_uint() < 2 ^ 15
      and tvb(at + 14, 2):le_uint() < 2 ^ 14
  elseif kind == CLEAR then
    return is_request(tvb(at + 4, 4):le_uint()) and is_request(tvb(at + 8, 4):le_uint())
  end
  return false
end

-- The length of the handshake with which this begins, nil if none does. An answer looks like the
-- beginning of a short message from rank 0 with tag 0; so it is all there is, or has a header behind.
local function handshake_length(tvb, pinfo, talk)
  local frame = talk.shaken[sender_of(pinfo)]
  if tvb:len() < HANDSHAKE or (frame and frame ~= pinfo.number) then
    return nil
  end
  local kind = tvb(0, 4):le_uint()
  local length = HANDSHAKE + tvb(8, 8):le_uint64():tonumber()
  if not HANDSHAKES[kind] or length >= HEADER or length > tvb:reported_len() then
    return nil
  end
  local behind = tvb:reported_len() - length
  if (kind == 0 and length < HANDSHAKE + 4)
    or (behind > 0 and (behind < HEADER or not is_certain(tvb, length))) then
    return nil
  end
  return length
end

-- Bytes of data behind the header at `offset`, nil when nobody knows.
local function data_bytes(tvb, pinfo, offset)
  local kind = tvb(offset, 4):le_uint()
  if kind == EAGER or kind == SYNCHRONOUS or kind == READY then
    return tvb(offset + 24, 8):le_uint64():tonumber()
  elseif kind == DATA then
    local place = table.concat({ pinfo.number, offset, tvb:offset(), tvb:len() }, " ")
    if not remembered[place] and not pinfo.visited then
      remembered[place] = talk_of().cleared[sender_of(pinfo) .. " " .. tvb(offset + 4, 4):le_uint()]
    end
    return remembered[place]
  elseif KINDS[kind] and not UNSURE[kind] then
    return 0
  end
  return nil
end

local function remember(tvb, pinfo, kind)
  local talk = talk_of()
  if kind == REQUEST then
    local key = sender_of(pinfo) .. " " .. tvb(16, 4):le_uint()
    talk.asked[key] = tvb(24, 8):le_uint64():tonumber()
  elseif kind == CLEAR then
    local asked = receiver_of(pinfo) .. " " .. tvb(4, 4):le_uint()
    local cleared = receiver_of(pinfo) .. " " .. tvb(8, 4):le_uint()
    talk.cleared[cleared] = talk.asked[asked]
  end
end

local function say(pinfo, text)
  if not pinfo.private["mpich_said"] then
    pinfo.cols.protocol = "MPICH"
    pinfo.cols.info = text
    pinfo.private["mpich_said"] = "yes"
  else
    pinfo.cols.info:append("; " .. text)
  end
end

local function pdu_length(tvb, pinfo, offset)
  local shaken = offset == 0 and handshake_length(tvb, pinfo, talk_of())
  if shaken then
    return shaken
  end
  if tvb:len() - offset < NEEDED then
    return 0 -- not yet known
  end
  local behind = data_bytes(tvb, pinfo, offset)
  return behind and HEADER + behind or tvb:reported_len() - offset
end

local function show_lost(tvb, pinfo, tree)
  tree:add(mpich, tvb(), "MPICH, not understood"):add(fields.lost, tvb())
  say(pinfo, "not understood")
  return tvb:len()
end

local function show_matched(tvb, branch, kind)
  branch:add_le(fields.tag, tvb(8, 4))
  branch:add_le(fields.source, tvb(12, 2))
  branch:add_le(fields.context, tvb(14, 2))
  branch:add(fields.collective, tvb(14, 2), tvb(14, 2):le_uint() % 2 == 1):set_generated()
  local size_at = kind == SHORT and 16 or 24
  if kind ~= SHORT then
    branch:add_le(fields.sender, tvb(16, 4))
  end
  branch:add_le(fields.bytes, tvb(size_at, 8))
  local size = tvb(size_at, 8):le_uint64():tonumber()
  if kind == SHORT and size > 0 and tvb:len() >= 24 + size then
    branch:add(fields.data, tvb(24, size))
  end
  return string.format(
    ", tag %d, source %d, context %d, %.0f bytes",
    tvb(8, 4):le_int(), tvb(12, 2):le_uint(), tvb(14, 2):le_uint(), size
  )
end

local function show_handshake(tvb, pinfo, tree)
  talk_of().shaken[sender_of(pinfo)] = pinfo.number
  local kind = tvb(0, 4):le_uint()
  local branch = tree:add(mpich, tvb(), "MPICH, handshake, " .. HANDSHAKES[kind])
  branch:add_le(fields.handshake, tvb(0, 4))
  local more = ""
  if kind == 0 and tvb:len() >= HANDSHAKE + 4 then
    branch:add_le(fields.rank, tvb(HANDSHAKE, 4))
    more = ", rank " .. tvb(HANDSHAKE, 4):le_int()
  end
  branch:append_text(more)
  say(pinfo, "handshake, " .. HANDSHAKES[kind] .. more)
  return tvb:len()
end

local function show_pdu(tvb, pinfo, tree)
  if tvb:len() < HEADER then
    local shaken = handshake_length(tvb, pinfo, talk_of()) == tvb:len()
    return (shaken and show_handshake or show_lost)(tvb, pinfo, tree)
  end
  local kind = tvb(0, 4):le_uint()
  local behind = data_bytes(tvb, pinfo, 0)
  if not KINDS[kind] or (not behind and kind ~= DATA and not UNSURE[kind]) then
    return show_lost(tvb, pinfo, tree)
  end
  local branch = tree:add(mpich, tvb(), "MPICH, " .. KINDS[kind])
  branch:add_le(fields.kind, tvb(0, 4))
  local more = ""
  if MATCHED[kind] or kind == SHORT then
    more = show_matched(tvb, branch, kind)
  elseif kind == CLEAR then
    branch:add_le(fields.sender, tvb(4, 4))
    branch:add_le(fields.receiver, tvb(8, 4))
  elseif kind == DATA then
    branch:add_le(fields.receiver, tvb(4, 4))
    more = behind and string.format(", %.0f bytes", behind) or ", of a request not seen"
  elseif kind == ACKNOWLEDGED or kind == CANCEL_ANSWER then
    branch:add_le(fields.sender, tvb(4, 4))
  elseif kind == CLOSE then
    branch:add_le(fields.answer, tvb(4, 4))
  end
  if tvb:len() > HEADER then
    branch:add(fields.data, tvb(HEADER))
  end
  branch:append_text(more)
  say(pinfo, KINDS[kind] .. more)
  if not pinfo.visited then
    remember(tvb, pinfo, kind)
  end
  return tvb:len()
end

-- Of a segment of which only the beginning was captured, only the first header can be shown.
local function show_beginning(tvb, pinfo, tree)
  if not is_certain(tvb, 0) then
    tree:add(mpich, tvb(), "MPICH, data")
    say(pinfo, "data")
    return tvb:len()
  end
  return show_pdu(tvb, pinfo, tree)
end

function mpich.dissector(tvb, pinfo, tree)
  local shaken = handshake_length(tvb, pinfo, talk_of())
  if shaken == tvb:len() then
    return show_handshake(tvb, pinfo, tree)
  end
  if tvb:len() < tvb:reported_len() then
    return show_beginning(tvb, pinfo, tree)
  end
  dissect_tcp_pdus(tvb, tree, HANDSHAKE, pdu_length, show_pdu)
  return tvb:len()
end

local function recognise(tvb, pinfo, tree)
  if not handshake_length(tvb, pinfo, talk_of()) and not is_certain(tvb, 0) then
    return false
  end
  pinfo.conversation = mpich
  mpich.dissector(tvb, pinfo, tree)
  return true
end

mpich:register_heuristic("tcp", recognise)
