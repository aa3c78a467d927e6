-- SPDX-License-Identifier: GPL-2.0-only
-- Wireshark dissector of the module's protocol (the diagram is in model/wire/federated-header.h).
--
--     tshark -X lua_script:tools/wireshark/federated.lua -r FILE.pcap -Y 'federated.round == 3'
--
-- Messages are found on any port by how they begin: 'F', 'L' and the version, over TCP behind the
-- length that frames them. Where that fails, as in a capture that starts inside a stream, set the
-- port: -o federated.port:4000, or Decode As.

local VERSION = 2
local FIXED_SIZE = 44
local INTERVAL_SIZE = 12
local MAX_SIZE = FIXED_SIZE + 255 * INTERVAL_SIZE + 65535
local ALL_DEVICES = 0xffffffff
local PORT_TYPE_TCP = 2
-- Of a protected message (the diagram is in model/wire/message-protection.h).
local CLEAR_SIZE, TAG_SIZE, SIGNATURE_SIZE = 16, 16, 64

local JOIN, LEAVE, GRANT, ACK, MODEL, UPDATE, REPAIR, DONE, REJOIN, PAGE =
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local PROTECTED_UP, PROTECTED_DOWN, PROTECTED_GROUP = 253, 254, 255
local ROTATED, INTERLEAVED = 128, 64 -- flags in the byte of an update's bits
local types = {
    [JOIN] = "join", [LEAVE] = "leave", [GRANT] = "grant", [ACK] = "ack",
    [MODEL] = "model", [UPDATE] = "update", [REPAIR] = "repair", [DONE] = "done",
    [REJOIN] = "rejoin", [PAGE] = "page",
    [PROTECTED_UP] = "protected, to the center",
    [PROTECTED_DOWN] = "protected, to a device", [PROTECTED_GROUP] = "protected, to all devices",
}
local outcomes = {
    [0] = "sent", [1] = "model incomplete", [2] = "not finite", [3] = "no time",
    [4] = "budget spent", [5] = "nothing learned",
}
local BAD, GOOD, UNVERIFIED = 0, 1, 2
local statuses = { [BAD] = "bad", [GOOD] = "good", [UNVERIFIED] = "unverified" }

local federated = Proto("federated", "Federated Learning")
local f = {
    length = ProtoField.uint32("federated.length", "Length of the message (TCP)"),
    version = ProtoField.uint8("federated.version", "Version"),
    type = ProtoField.uint8("federated.type", "Type", base.DEC, types),
    sequence = ProtoField.uint32("federated.sequence", "Sequence"),
    round = ProtoField.uint32("federated.round", "Round"),
    device = ProtoField.uint32("federated.device", "Device"),
    fragment = ProtoField.uint32("federated.fragment", "Fragment, from 0"),
    fragments = ProtoField.uint32("federated.fragments", "Fragments"),
    first = ProtoField.uint32("federated.first", "First coordinate"),
    coordinates = ProtoField.uint32("federated.coordinates", "Coordinates"),
    rotated = ProtoField.bool("federated.rotated", "Rotated"),
    interleaved = ProtoField.bool("federated.interleaved", "Interleaved"),
    bits = ProtoField.uint8("federated.bits", "Bits of a coordinate"),
    intervals = ProtoField.uint8("federated.intervals", "Intervals"),
    interval_end = ProtoField.uint32("federated.interval.end", "End (one past the last)"),
    interval_low = ProtoField.float("federated.interval.low", "Low"),
    interval_high = ProtoField.float("federated.interval.high", "High"),
    payload_length = ProtoField.uint16("federated.payload_length", "Payload length"),
    distortion = ProtoField.float("federated.distortion", "Distortion of a coordinate"),
    checksum = ProtoField.uint32("federated.checksum", "Checksum (CRC-32C)", base.HEX),
    status = ProtoField.uint8("federated.checksum.status", "Checksum status", base.DEC, statuses),
    group = ProtoField.uint32("federated.join.group", "Group"),
    samples = ProtoField.uint32("federated.join.samples", "Training samples"),
    training = ProtoField.uint64("federated.join.training_ns", "Training time (ns)"),
    life = ProtoField.uint32("federated.join.life", "Life of the device"),
    battery = ProtoField.float("federated.battery", "Battery level, 0 to 1"),
    model_end = ProtoField.uint64("federated.grant.model_end_ns", "End of the model (ns)"),
    slot_start = ProtoField.uint64("federated.grant.slot_start_ns", "Start of the slot (ns)"),
    slot_length = ProtoField.uint64("federated.grant.slot_length_ns", "Length of the slot (ns)"),
    deadline = ProtoField.uint64("federated.grant.deadline_ns", "Deadline (ns)"),
    ack_type = ProtoField.uint8("federated.ack.type", "Acknowledged type", base.DEC, types),
    repair_ranges = ProtoField.uint32("federated.repair.ranges", "Ranges of missing fragments"),
    repair_first = ProtoField.uint32("federated.repair.first", "First missing fragment"),
    repair_count = ProtoField.uint32("federated.repair.count", "Missing fragments"),
    outcome = ProtoField.uint8("federated.done.outcome", "Outcome", base.DEC, outcomes),
    first_sent = ProtoField.uint64("federated.done.first_sent_ns", "First fragment sent (ns)"),
    last_sent = ProtoField.uint64("federated.done.last_sent_ns", "Last fragment sent (ns)"),
    page_until = ProtoField.uint64("federated.page.until_ns", "End of the round (ns)"),
    page_first = ProtoField.uint32("federated.page.first", "First device"),
    page_devices = ProtoField.uint32("federated.page.devices", "Devices"),
    page_named = ProtoField.uint32("federated.page.named", "Selected"),
    tail = ProtoField.bytes("federated.tail", "Fields of a later revision"),
    payload = ProtoField.bytes("federated.payload", "Payload"),
    counter = ProtoField.uint64("federated.counter", "Counter of a protected message"),
    protected_size = ProtoField.uint32("federated.protected.size", "Size of the message inside"),
    ciphertext = ProtoField.bytes("federated.protected.message", "Message, encrypted"),
    tag = ProtoField.bytes("federated.tag", "Tag"),
    signature = ProtoField.bytes("federated.signature", "Signature of the center"),
}
federated.fields = f
local bad_checksum = ProtoExpert.new("federated.checksum.bad", "bad checksum",
                                     expert.group.CHECKSUM, expert.severity.ERROR)
local bad_lengths = ProtoExpert.new("federated.malformed", "lengths that contradict each other",
                                    expert.group.MALFORMED, expert.severity.ERROR)
federated.experts = { bad_checksum, bad_lengths }
federated.prefs.port = Pref.uint("Port", 0, "UDP and TCP port of the center; 0: find it")

-- The checksum -------------------------------------------------------------------------------

local band, bxor, rshift = bit.band, bit.bxor, bit.rshift
local crc_table = {}
for byte = 0, 255 do
    local crc = byte
    for _ = 1, 8 do
        crc = bxor(rshift(crc, 1), band(crc, 1) * 0x82f63b78)
    end
    crc_table[byte] = crc
end

local function add_to_crc(crc, bytes)
    for i = 1, #bytes do
        crc = bxor(rshift(crc, 8), crc_table[band(bxor(crc, bytes:byte(i)), 0xff)])
    end
    return crc
end

-- The checksum of a message, taken with its own field at 0.
local function get_checksum(tvb)
    local crc = add_to_crc(0xffffffff, tvb:raw(0, 40) .. "\0\0\0\0")
    if tvb:len() > FIXED_SIZE then
        crc = add_to_crc(crc, tvb:raw(FIXED_SIZE))
    end
    return bxor(crc, 0xffffffff) % 0x100000000
end

-- One message --------------------------------------------------------------------------------

-- A float that may be unknown.
local function add_optional(tree, field, range)
    local item = tree:add(field, range)
    if range:float() ~= range:float() then
        item:append_text(" (not reported)")
    end
end

-- Each adds the fields of a body that it knows, and returns how many bytes these are.
local bodies = {
    [JOIN] = function(body, tree)
        tree:add(f.group, body(0, 4))
        tree:add(f.samples, body(4, 4))
        tree:add(f.training, body(8, 8))
        tree:add(f.life, body(16, 4))
        add_optional(tree, f.battery, body(20, 4))
        return 24
    end,
    [GRANT] = function(body, tree)
        tree:add(f.model_end, body(0, 8))
        tree:add(f.slot_start, body(8, 8))
        tree:add(f.slot_length, body(16, 8))
        tree:add(f.deadline, body(24, 8))
        return 32
    end,
    [ACK] = function(body, tree)
        tree:add(f.ack_type, body(0, 1))
        return 1
    end,
    [REPAIR] = function(body, tree)
        tree:add(f.repair_ranges, body(0, 4))
        local ranges = math.min(body(0, 4):uint(), math.floor((body:len() - 4) / 8))
        for at = 4, 8 * ranges - 4, 8 do
            tree:add(f.repair_first, body(at, 4))
            tree:add(f.repair_count, body(at + 4, 4))
        end
        return 4 + 8 * ranges
    end,
    [DONE] = function(body, tree)
        tree:add(f.outcome, body(0, 1))
        tree:add(f.first_sent, body(1, 8))
        tree:add(f.last_sent, body(9, 8))
        add_optional(tree, f.battery, body(17, 4))
        return 21
    end,
    [PAGE] = function(body, tree)
        tree:add(f.page_until, body(0, 8))
        tree:add(f.page_first, body(8, 4))
        tree:add(f.page_devices, body(12, 4))
        local first, devices = body(8, 4):uint(), body(12, 4):uint()
        devices = math.min(devices, 8 * (body:len() - 16))
        for i = 0, devices - 1 do
            local byte = body(16 + math.floor(i / 8), 1)
            if band(rshift(byte:uint(), i % 8), 1) == 1 then
                tree:add(f.page_named, byte, first + i)
            end
        end
        return 16 + math.ceil(devices / 8)
    end,
}
local body_sizes = { [JOIN] = 24, [GRANT] = 32, [ACK] = 1, [REPAIR] = 12, [DONE] = 21, [PAGE] = 17 }

-- The bits of a coordinate, and whether an update is rotated and interleaved: flags in the same byte.
local function get_bits(tvb, type)
    local byte = tvb(32, 1):uint()
    local rotated = type == UPDATE and byte >= ROTATED
    byte = rotated and byte - ROTATED or byte
    local interleaved = type == UPDATE and byte >= INTERLEAVED
    return interleaved and byte - INTERLEAVED or byte, rotated, interleaved
end

-- The message in one line, for the info column.
local function describe(tvb, type, body)
    local name = types[type] or "unknown"
    local parts = { name }
    if type == ACK and body and body:len() >= 1 then
        parts[1] = string.format("ack of %s %u", types[body(0, 1):uint()] or "unknown",
                                 tvb(4, 4):uint())
    end
    if type ~= JOIN and type ~= LEAVE and type ~= REJOIN then
        parts[#parts + 1] = "round " .. tvb(8, 4):uint()
    end
    local device = tvb(12, 4):uint()
    if device ~= ALL_DEVICES then
        parts[#parts + 1] = "device " .. device
    end
    if type == JOIN or type == GRANT or type == MODEL or type == UPDATE then
        local bits, rotated, interleaved = get_bits(tvb, type)
        parts[#parts + 1] = "bits " .. bits .. (rotated and " rotated" or "")
            .. (interleaved and " interleaved" or "")
    end
    if type == MODEL or type == UPDATE then
        parts[#parts + 1] = string.format("fragment %u/%u", tvb(16, 4):uint() + 1,
                                          tvb(20, 4):uint())
    end
    if type == DONE and body and body:len() >= 1 then
        parts[#parts + 1] = outcomes[body(0, 1):uint()] or "unknown"
    end
    return table.concat(parts, " ")
end

local PROTOCOL = "FEDERATED"

local function show(pinfo, text)
    if tostring(pinfo.cols.protocol) == PROTOCOL then -- not the first message of the packet
        pinfo.cols.info:append("; " .. text)
    else
        pinfo.cols.protocol = PROTOCOL
        pinfo.cols.info = text
    end
end

-- A message of which nothing is known but who protected it for whom, its counter and its size.
local function dissect_protected(tvb, pinfo, tree)
    local type = tvb(3, 1):uint()
    local device = tvb(4, 4):uint()
    local size = tvb:reported_len()
    local name = type == PROTECTED_UP and "device " .. device .. " to the center"
        or type == PROTECTED_DOWN and "center to device " .. device
        or "center to all, signed"
    local text = string.format("protected, %s, counter %s, %u bytes", name, tvb(8, 8):uint64(), size)
    show(pinfo, text)
    local top = tree:add(federated, tvb(), "Federated Learning, " .. text)
    top:add(f.version, tvb(2, 1))
    top:add(f.type, tvb(3, 1))
    local item = top:add(f.device, tvb(4, 4))
    if device == ALL_DEVICES then
        item:append_text(" (all)")
    end
    top:add(f.counter, tvb(8, 8))
    local tail = TAG_SIZE + (type == PROTECTED_GROUP and SIGNATURE_SIZE or 0)
    local inner = size - CLEAR_SIZE - tail
    if inner < FIXED_SIZE then
        top:add_proto_expert_info(bad_lengths)
        return
    end
    top:add(f.protected_size, tvb(CLEAR_SIZE), inner):set_generated()
    if tvb:len() < size then
        return -- the capture has only the beginning of the packet
    end
    top:add(f.ciphertext, tvb(CLEAR_SIZE, inner))
    top:add(f.tag, tvb(CLEAR_SIZE + inner, TAG_SIZE))
    if type == PROTECTED_GROUP then
        top:add(f.signature, tvb(CLEAR_SIZE + inner + TAG_SIZE, SIGNATURE_SIZE))
    end
end

-- Dissect one message, which is all of tvb.
local function dissect_message(tvb, pinfo, tree)
    local size = tvb:len()
    if size >= CLEAR_SIZE and tvb:raw(0, 2) == "FL" and tvb(3, 1):uint() >= PROTECTED_UP then
        dissect_protected(tvb, pinfo, tree)
        return
    end
    if size < FIXED_SIZE or tvb:raw(0, 2) ~= "FL" then
        show(pinfo, "[not a message]")
        tree:add(federated, tvb(), "Federated Learning [not a message]")
        return
    end
    local type = tvb(3, 1):uint()
    local intervals = tvb(33, 1):uint()
    local header_size = FIXED_SIZE + intervals * INTERVAL_SIZE
    local lengths_agree = header_size + tvb(34, 2):uint() == tvb:reported_len()
    local body = lengths_agree and header_size < size and tvb(header_size) or nil

    local status = UNVERIFIED -- where the capture has only the beginning of the packet
    if size == tvb:reported_len() then
        status = get_checksum(tvb) == tvb(40, 4):uint() and GOOD or BAD
    end
    local text = describe(tvb, type, body)
    if status == BAD then
        text = text .. " [bad checksum]"
    end
    show(pinfo, text)

    local top = tree:add(federated, tvb(), "Federated Learning, " .. text)
    top:add(f.version, tvb(2, 1))
    top:add(f.type, tvb(3, 1))
    top:add(f.sequence, tvb(4, 4))
    top:add(f.round, tvb(8, 4))
    local device = top:add(f.device, tvb(12, 4))
    if tvb(12, 4):uint() == ALL_DEVICES then
        device:append_text(" (all)")
    end
    top:add(f.fragment, tvb(16, 4))
    top:add(f.fragments, tvb(20, 4))
    top:add(f.first, tvb(24, 4))
    top:add(f.coordinates, tvb(28, 4))
    local bits, rotated, interleaved = get_bits(tvb, type)
    if type == UPDATE then
        top:add(f.rotated, tvb(32, 1), rotated)
        top:add(f.interleaved, tvb(32, 1), interleaved)
    end
    top:add(f.bits, tvb(32, 1), bits)
    local list = top:add(f.intervals, tvb(33, 1))
    top:add(f.payload_length, tvb(34, 2))
    add_optional(top, f.distortion, tvb(36, 4))
    local checksum = top:add(f.checksum, tvb(40, 4))
    checksum:append_text(" [" .. statuses[status] .. "]")
    checksum:add(f.status, tvb(40, 4), status):set_generated()
    if status == BAD then
        checksum:add_proto_expert_info(bad_checksum)
    end
    if not lengths_agree then
        top:add_proto_expert_info(bad_lengths)
        return
    end
    for i = 0, intervals - 1 do
        local at = FIXED_SIZE + i * INTERVAL_SIZE
        if at + INTERVAL_SIZE > size then
            return
        end
        list:add(f.interval_end, tvb(at, 4))
        list:add(f.interval_low, tvb(at + 4, 4))
        list:add(f.interval_high, tvb(at + 8, 4))
    end
    if body and bodies[type] and body:len() >= body_sizes[type] then
        local known = bodies[type](body, top)
        if known < body:len() then
            top:add(f.tail, body(known))
        end
    elseif body then
        top:add(f.payload, body)
    end
end

-- Transports ---------------------------------------------------------------------------------

-- The length of the message at an offset of a TCP stream, with the four bytes that hold it.
local function get_framed_length(tvb, _, offset)
    local length = tvb(offset, 4):uint()
    if length < FIXED_SIZE or length > MAX_SIZE then
        return tvb:len() - offset -- not one of our streams: swallow what is there
    end
    return 4 + length
end

local function dissect_framed(tvb, pinfo, tree)
    if tvb:len() > 4 then
        dissect_message(tvb(4):tvb(), pinfo, tree)
    end
    tree:add(f.length, tvb(0, 4))
    return tvb:len()
end

-- Called by name and not as federated.dissector, which would go through Wireshark once more and
-- lose the permission to ask for further segments.
local function dissect(tvb, pinfo, tree)
    if pinfo.port_type == PORT_TYPE_TCP then
        dissect_tcp_pdus(tvb, tree, 4, get_framed_length, dissect_framed)
    else
        dissect_message(tvb, pinfo, tree)
    end
    return tvb:len()
end
federated.dissector = dissect

local BEGIN = "FL" .. string.char(VERSION)

federated:register_heuristic("udp", function(tvb, pinfo, tree)
    if tvb:len() < FIXED_SIZE or tvb:raw(0, 3) ~= BEGIN then
        return false
    end
    dissect(tvb, pinfo, tree)
    return true
end)

federated:register_heuristic("tcp", function(tvb, pinfo, tree)
    if tvb:len() < 7 or tvb:raw(4, 3) ~= BEGIN then
        return false
    end
    pinfo.conversation = federated -- later segments may begin anywhere
    dissect(tvb, pinfo, tree)
    return true
end)

local ports = { DissectorTable.get("udp.port"), DissectorTable.get("tcp.port") }
for _, port in ipairs(ports) do
    port:add_for_decode_as(federated)
end
local current = 0
function federated.prefs_changed()
    for _, port in ipairs(ports) do
        if current > 0 then
            port:remove(current, federated)
        end
        if federated.prefs.port > 0 then
            port:add(federated.prefs.port, federated)
        end
    end
    current = federated.prefs.port
end
